// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/interrupts/irqbalance.h"

#include "base/take_until.h"
#include "base/whole_number.h"
#include "kernel/files/files.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <functional>
#include <map>

namespace teamo {
namespace {

constexpr std::size_t old_buffer = 500;   ///< irqbalance.c: sock_handle, up to 1.9.4
constexpr std::size_t new_buffer = 16384; ///< since 1.9.5; a request that fills it is refused

/// "KEY NUMBER".
template <std::unsigned_integral Number>
std::optional<Number> number_of(std::string_view key, std::string_view& words) {
    if (take_until(words, " ") != key) return std::nullopt;
    return whole_number<Number>(take_until(words, " "));
}

constexpr std::size_t longest_reply = std::size_t{64} << 10;

bool is_alive(pid_t pid) { return ::kill(pid, 0) == 0 || errno != ESRCH; }

/// irqbalance requires SCM_CREDENTIALS with uid 0; irqbalance-ui sends them in the same way.
ssize_t send_with_credentials(int socket, const std::string& request) {
    const ucred ours{.pid = ::getpid(), .uid = ::geteuid(), .gid = ::getegid()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof ours)> control{};
    iovec text{.iov_base = const_cast<char*>(request.data()), .iov_len = request.size()};
    msghdr message{};
    message.msg_iov = &text;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    auto* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_CREDENTIALS;
    header->cmsg_len = CMSG_LEN(sizeof ours);
    std::memcpy(CMSG_DATA(header), &ours, sizeof ours);
    return ::sendmsg(socket, &message, MSG_NOSIGNAL);
}

} // namespace

std::optional<pid_t> pid_of_socket(std::string_view name) {
    constexpr std::string_view before = "irqbalance", after = ".sock";
    if (!name.starts_with(before) || !name.ends_with(after) || name.size() <= before.size() + after.size())
        return std::nullopt;
    const auto digits = name.substr(before.size(), name.size() - before.size() - after.size());
    const auto pid = whole_number<pid_t>(digits);
    return pid && *pid > 0 ? pid : std::nullopt;
}

Result<IrqBalanceSetup> parse_irqbalance_setup(std::string_view reply) {
    if (reply.empty()) return fail(EACCES, "irqbalance closed the connection without an answer");
    const auto malformed = [] { return fail(EBADMSG, "irqbalance sent a malformed answer"); };
    IrqBalanceSetup setup;
    auto words = reply;
    const auto seconds = number_of<unsigned>("SLEEP", words);
    if (!seconds) return malformed();
    setup.seconds = *seconds;
    while (!words.empty()) {
        const auto key = take_until(words, " ");
        const auto value = take_until(words, " ");
        if (key == "BANNED") {
            auto cpus = parse_cpu_mask(value);
            if (!cpus || !words.empty()) return malformed();
            setup.banned_cpus = std::move(*cpus);
            return setup;
        }
        const auto irq = whole_number<unsigned>(value);
        if (key != "IRQ" || !irq || *irq >= most_irqs) return malformed();
        if (!number_of<std::uint64_t>("LOAD", words) || !number_of<std::uint64_t>("DIFF", words))
            return malformed();
        if (take_until(words, " ") != "CLASS") return malformed();
        take_until(words, " "); // any value: undefined for an IRQ that was banned before irqbalance saw it
        setup.banned.insert(*irq);
    }
    return malformed();
}

Result<std::string> ban_request(const BannedIrqs& bans, const BannedIrqs& ours) {
    std::string request = "settings ban irqs";
    if (bans.empty()) return request.append(" NONE");
    // Bans of others first. irqbalance parses with strtoul in a loop: a zero that is not first ends the list.
    std::vector<unsigned> order(bans.begin(), bans.end());
    std::ranges::stable_sort(order, {}, [&](unsigned irq) {
        return irq == 0 ? 0 : ours.contains(irq) ? 2 : 1;
    });
    for (const auto irq : order) {
        const auto word = fmt::format(" {}", irq);
        const auto end = request.size() + word.size();
        if (end > old_buffer && !ours.contains(irq))
            return fail(EMSGSIZE, "the list of banned interrupts is too long: irqbalance before 1.9.5 "
                                  "would lose a part of it");
        if (end >= new_buffer) break;
        if (request.size() < old_buffer && end > old_buffer) request.resize(old_buffer, ' ');
        request += word;
    }
    return request;
}

std::vector<IrqBalanceSocket> find_irqbalance(const std::string& directory) {
    std::multimap<std::pair<time_t, long>, IrqBalanceSocket, std::greater<>> found; // by the time of creation
    for (const auto& name : sysfs::names_in(directory)) {
        const auto pid = pid_of_socket(name);
        const auto path = fmt::format("{}/{}", directory, name);
        struct stat status{};
        if (pid && ::lstat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode) && is_alive(*pid))
            found.emplace(std::pair(status.st_ctim.tv_sec, status.st_ctim.tv_nsec),
                          IrqBalanceSocket{*pid, path});
    }
    std::vector<IrqBalanceSocket> sockets;
    for (auto& [created, socket] : found)
        sockets.push_back(std::move(socket));
    return sockets;
}

std::optional<pid_t> find_irqbalance_process(const std::string& proc, const std::string& cgroups) {
    for (const auto pid : sysfs::numbers_in(proc))
        if (sysfs::first_line(fmt::format("{}/{}/comm", proc, pid)) == "irqbalance")
            return static_cast<pid_t>(pid);
    for (const auto* hierarchy : {"", "/unified", "/systemd"}) { // systemd has one of them
        const auto file =
            fmt::format("{}{}/system.slice/irqbalance.service/cgroup.procs", cgroups, hierarchy);
        if (const auto pid = sysfs::number(file); pid && *pid > 0) return static_cast<pid_t>(*pid);
    }
    return std::nullopt;
}

Result<IrqBalanceExchange> IrqBalanceExchange::start(const std::string& path, const std::string& request,
                                                     Clock::time_point deadline) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) return fail_errno(ENAMETOOLONG, path);
    path.copy(address.sun_path, path.size());
    UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) return fail_errno(errno, "cannot create a socket");
    // A full backlog gives EAGAIN at once, never EINPROGRESS (unix(7)).
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0)
        return fail_errno(errno, path);
    const auto sent = send_with_credentials(socket.get(), request);
    if (sent < 0) return fail_errno(errno, path);
    // irqbalance reads once: it would never see the rest.
    if (static_cast<std::size_t>(sent) != request.size()) return fail_errno(EMSGSIZE, path);
    return IrqBalanceExchange(std::move(socket), deadline);
}

Result<IrqBalanceExchange::Progress> IrqBalanceExchange::step(Clock::time_point now) {
    std::array<char, 4096> part; // recv fills it before it is read
    while (true) {
        const auto got = ::recv(socket_.get(), part.data(), part.size(), 0);
        if (got > 0) {
            reply_.append(part.data(), static_cast<std::size_t>(got));
            if (reply_.size() >= longest_reply)
                return fail(EMSGSIZE, "irqbalance's answer is longer than 64 KiB");
            continue;
        }
        // ECONNRESET: irqbalance closed before it read the whole request (before 1.9.5, if longer than 500
        // bytes).
        if (got == 0 || errno == ECONNRESET) return Progress::done;
        if (errno == EINTR) continue;
        if (errno != EAGAIN) return fail_errno(errno, "irqbalance's answer");
        if (now >= deadline_) return fail(ETIMEDOUT, "irqbalance does not answer");
        return Progress::again;
    }
}

} // namespace teamo
