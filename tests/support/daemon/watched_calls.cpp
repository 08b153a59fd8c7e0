// SPDX-License-Identifier: LGPL-2.1-or-later
#include "support/daemon/watched_calls.h"

#include "support/daemon/process.h"

#include <bpf/bpf.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

namespace teamo::test {
namespace {

constexpr auto watched = std::to_array<int>({
    SYS_sendmsg,
    SYS_sendto,
    SYS_bpf,
    SYS_write,
    SYS_renameat,
    SYS_renameat2,
    SYS_unlinkat,
    SYS_mkdirat,
    SYS_ioctl,
    SYS_pwrite64,
    SYS_sched_setaffinity,
    SYS_inotify_init1,
    SYS_recvmsg,
    SYS_socket,
    SYS_accept4,
#ifdef SYS_rename
    SYS_rename,
    SYS_unlink,
    SYS_mkdir,
#endif
});

constexpr std::uint32_t where_number = offsetof(seccomp_data, nr);
/// The lower half of the third argument: the flags of openat(2).
constexpr std::uint32_t where_flags = offsetof(seccomp_data, args) + 2 * sizeof(std::uint64_t);

std::vector<sock_filter> make_filter() {
    std::vector<sock_filter> code;
    const auto add = [&code](std::uint16_t operation, std::uint8_t yes, std::uint8_t no,
                             std::uint32_t value) {
        code.push_back({.code = operation, .jt = yes, .jf = no, .k = value});
    };
    add(BPF_LD | BPF_W | BPF_ABS, 0, 0, where_number);
    for (const int call : watched) {
        add(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, static_cast<std::uint32_t>(call));
        add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_USER_NOTIF);
    }
    // openat(2): only files opened for writing.
    add(BPF_JMP | BPF_JEQ | BPF_K, 0, 3, SYS_openat);
    add(BPF_LD | BPF_W | BPF_ABS, 0, 0, where_flags);
    add(BPF_JMP | BPF_JSET | BPF_K, 0, 1, O_CREAT | O_TRUNC);
    add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_USER_NOTIF);
    add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
    return code;
}

/// Reads memory of a process that waits in a system call; none if it is not readable.
template <class Value>
std::optional<Value> peek(pid_t process, std::uint64_t address) {
    Value value{};
    iovec here{.iov_base = &value, .iov_len = sizeof value};
    iovec there{.iov_base = reinterpret_cast<void*>(address), .iov_len = sizeof value};
    if (::process_vm_readv(process, &here, 1, &there, 1, 0) != static_cast<ssize_t>(sizeof value))
        return std::nullopt;
    return value;
}

std::string path_at(pid_t process, std::uint64_t address) {
    std::string path;
    for (auto letter = peek<char>(process, address); letter && *letter != 0 && path.size() < 4096;
         letter = peek<char>(process, ++address))
        path += *letter;
    return path;
}

std::string path_of(pid_t process, std::uint64_t descriptor) {
    std::array<char, 4096> path{};
    const auto link = fmt::format("/proc/{}/fd/{}", process, descriptor);
    const auto size = ::readlink(link.c_str(), path.data(), path.size());
    return {path.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

bool is_state(std::string_view path) {
    return path.starts_with("/proc/") || path.starts_with("/sys/") || path.starts_with("/run/teamd");
}

/// Dumps and get requests to NETLINK_ROUTE change nothing. Requests to generic families all count.
std::optional<std::string> netlink_step(int handle, pid_t process, std::uint64_t descriptor,
                                        std::uint64_t message) {
    const UniqueFd socket(static_cast<int>(::syscall(SYS_pidfd_getfd, handle, descriptor, 0)));
    int domain = 0, protocol = 0;
    socklen_t size = sizeof domain;
    if (!socket || ::getsockopt(socket.get(), SOL_SOCKET, SO_DOMAIN, &domain, &size) < 0 ||
        domain != AF_NETLINK)
        return std::nullopt;
    if (::getsockopt(socket.get(), SOL_SOCKET, SO_PROTOCOL, &protocol, &size) < 0) return std::nullopt;
    const auto header = peek<nlmsghdr>(process, message);
    if (!header) return std::nullopt;
    constexpr unsigned gets = 2; // RTM_NEW…, RTM_DEL…, RTM_GET…, RTM_SET…
    const bool asks = protocol == NETLINK_ROUTE ? (header->nlmsg_type & 3U) == gets
                                                : (header->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP ||
                                                      header->nlmsg_type == GENL_ID_CTRL;
    if (asks) return std::nullopt;
    const auto command =
        protocol == NETLINK_GENERIC ? peek<genlmsghdr>(process, message + NLMSG_HDRLEN) : std::nullopt;
    return fmt::format("netlink {} message {}{}", protocol, header->nlmsg_type,
                       command ? fmt::format(" command {}", command->cmd) : "");
}

/// The name of the map of a bpf(2) that has its descriptor first; "" if it cannot be read.
std::string map_of(const seccomp_notif& call, int handle) {
    const auto descriptor = peek<std::uint32_t>(static_cast<pid_t>(call.pid), call.data.args[1]);
    if (!descriptor) return {};
    const UniqueFd map(static_cast<int>(::syscall(SYS_pidfd_getfd, handle, *descriptor, 0)));
    bpf_map_info info{};
    std::uint32_t size = sizeof info;
    return map && bpf_obj_get_info_by_fd(map.get(), &info, &size) == 0 ? static_cast<const char*>(info.name)
                                                                       : "";
}

/// The address of the message of a sendmsg(2).
std::optional<std::uint64_t> first_part(const seccomp_notif& call) {
    const auto process = static_cast<pid_t>(call.pid);
    const auto message = peek<msghdr>(process, call.data.args[1]);
    if (!message || message->msg_iovlen == 0) return std::nullopt;
    const auto part = peek<iovec>(process, reinterpret_cast<std::uint64_t>(message->msg_iov));
    return part ? std::optional(reinterpret_cast<std::uint64_t>(part->iov_base)) : std::nullopt;
}

enum class Reads { nothing, one_device, all_devices };

Reads reads_of(const seccomp_notif& call) {
    if (call.data.nr != SYS_sendmsg) return Reads::nothing;
    const auto part = first_part(call);
    const auto header = part ? peek<nlmsghdr>(static_cast<pid_t>(call.pid), *part) : std::nullopt;
    if (!header || header->nlmsg_type != RTM_GETLINK) return Reads::nothing;
    return (header->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP ? Reads::all_devices : Reads::one_device;
}

/// The log, and what is not a file of /proc, /sys or /run.
bool is_output(const seccomp_notif& call) {
    return (call.data.nr == SYS_write || call.data.nr == SYS_pwrite64) &&
           !is_state(path_of(static_cast<pid_t>(call.pid), call.data.args[0]));
}

/// RTM_SETLINK; whether its first attribute is an address.
std::optional<bool> sets_address(const seccomp_notif& call) {
    if (call.data.nr != SYS_sendmsg) return std::nullopt;
    const auto process = static_cast<pid_t>(call.pid);
    const auto part = first_part(call);
    const auto header = part ? peek<nlmsghdr>(process, *part) : std::nullopt;
    if (!header || header->nlmsg_type != RTM_SETLINK) return std::nullopt;
    constexpr auto before = NLMSG_LENGTH(sizeof(ifinfomsg));
    if (header->nlmsg_len < before + sizeof(nlattr)) return false;
    const auto attribute = peek<nlattr>(process, *part + before);
    return attribute && attribute->nla_type == IFLA_ADDRESS;
}

/// What the call would change; none if it is not a step.
std::optional<std::string> step_of(const seccomp_notif& call, int handle) {
    const auto process = static_cast<pid_t>(call.pid);
    const auto& arguments = call.data.args;
    switch (call.data.nr) {
    case SYS_sendto: return netlink_step(handle, process, arguments[0], arguments[1]);
    case SYS_sendmsg: {
        const auto part = first_part(call);
        return part ? netlink_step(handle, process, arguments[0], *part) : std::nullopt;
    }
    case SYS_bpf:
        for (const int command : {BPF_MAP_UPDATE_ELEM, BPF_MAP_DELETE_ELEM})
            if (arguments[0] == static_cast<std::uint64_t>(command))
                return fmt::format("bpf {} {}", command, map_of(call, handle));
        for (const int command : {BPF_PROG_ATTACH, BPF_PROG_DETACH, BPF_LINK_CREATE})
            if (arguments[0] == static_cast<std::uint64_t>(command)) return fmt::format("bpf {}", command);
        return std::nullopt;
    case SYS_write:
    case SYS_pwrite64: {
        auto path = path_of(process, arguments[0]);
        return is_state(path) ? std::optional("write " + path) : std::nullopt;
    }
    case SYS_openat:
    case SYS_unlinkat:
    case SYS_mkdirat:
    case SYS_renameat:
    case SYS_renameat2: {
        auto path = path_at(process, arguments[1]);
        return is_state(path) ? std::optional(fmt::format("call {} {}", call.data.nr, path)) : std::nullopt;
    }
#ifdef SYS_rename
    case SYS_rename:
    case SYS_unlink:
    case SYS_mkdir: {
        auto path = path_at(process, arguments[0]);
        return is_state(path) ? std::optional(fmt::format("call {} {}", call.data.nr, path)) : std::nullopt;
    }
#endif
    case SYS_sched_setaffinity: return "sched_setaffinity";
    default: return std::nullopt;
    }
}

} // namespace

const sock_fprog& WatchedCalls::filter() {
    static auto code = make_filter();
    static const sock_fprog program{.len = static_cast<unsigned short>(code.size()), .filter = code.data()};
    return program;
}

void WatchedCalls::follow(pid_t process, UniqueFd listener) {
    process_ = process;
    handle_.reset(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
    listener_ = std::move(listener);
    serving_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
}

std::vector<std::string> WatchedCalls::steps() const {
    const std::scoped_lock lock(mutex_);
    return steps_;
}

std::string WatchedCalls::what() const {
    const std::scoped_lock lock(mutex_);
    return what_;
}

void WatchedCalls::serve(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        pollfd waits{.fd = listener_.get(), .events = POLLIN, .revents = 0};
        constexpr int poll_ms = 20; // then checks whether to stop
        if (::poll(&waits, 1, poll_ms) <= 0) continue;
        if ((waits.revents & POLLIN) != 0)
            answer();
        else if ((waits.revents & POLLHUP) != 0)
            return; // the program ended
    }
}

std::function<void()> WatchedCalls::take_before_reading() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(before_reading_, {});
}

void WatchedCalls::act_during_list() {
    std::function<void()> act;
    {
        const std::scoped_lock lock(mutex_);
        act = during_lists_;
    }
    if (act) act();
}

int WatchedCalls::verdict_on_change(bool sets_address) {
    if (!address_refused_) {
        address_refused_ = sets_address;
        return sets_address ? EBUSY : 0;
    }
    return ++set_since_address_ == killed_after_address_ ? -1 : 0;
}

void WatchedCalls::answer() {
    seccomp_notif call{};
    if (::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_RECV, &call) < 0) return; // killed meanwhile
    seccomp_notif_resp answer{};
    answer.id = call.id;
    answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    const auto refuse_with = [&answer](int error) {
        answer.flags = 0;
        answer.error = -error;
    };
    if (const auto refused = refused_calls_.find(call.data.nr); refused != refused_calls_.end())
        refuse_with(refused->second);
    if (const unsigned nth = refused_every_; nth != 0 && !is_output(call) && ++seen_ % nth == 0) {
        ++refused_;
        refuse_with(error_of_every_);
        ::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_SEND, &answer);
        return;
    }
    const auto reads = reads_of(call);
    if (lists_to_refuse_ > 0 && reads == Reads::all_devices) {
        --lists_to_refuse_;
        refuse_with(EINTR);
    }
    // The kernel has made the first part when it takes the request.
    if (call.data.nr == SYS_recvmsg && std::exchange(lists_, false)) act_during_list();
    if (reads == Reads::all_devices) lists_ = true;
    if (reads == Reads::one_device)
        if (const auto act = take_before_reading()) act();
    if (const auto address = killed_after_address_ != 0 ? sets_address(call) : std::nullopt) {
        const int verdict = verdict_on_change(*address);
        if (verdict < 0) {
            ::kill(process_, SIGKILL);
            return;
        }
        if (verdict > 0) refuse_with(verdict);
    }
    if (const auto step = step_of(call, handle_.get())) {
        const auto number = ++count_;
        bool kills = false;
        std::optional<int> refusal;
        {
            const std::scoped_lock lock(mutex_);
            steps_.push_back(*step);
            kills = number == killed_at_;
            if (kills || number == refused_at_) what_ = *step;
            if (number == refused_at_ || *step == refused_step_) refusal = refusal_;
        }
        if (kills) {
            ::kill(process_, SIGKILL);
            return;
        }
        if (refusal) refuse_with(*refusal);
    }
    ::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

} // namespace teamo::test
