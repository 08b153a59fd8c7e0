// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/files/process_files.h"

#include "base/take_until.h"
#include "base/whole_number.h"
#include "kernel/files/files.h"
#include "kernel/netlink/netlink_socket.h"

#include <linux/taskstats.h>
#include <netlink/genl/ctrl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>

namespace teamo {
namespace {

/// The name of a process as the kernel's statistics of tasks report it (linux/taskstats.h), which a mount
/// option of /proc does not hide. ESRCH: no such process; EPERM: CAP_NET_ADMIN is missing; ENOENT: a kernel
/// without these statistics.
Result<std::string> read_task_name(pid_t process) {
    auto socket = TEAMO_TRY(NetlinkSocket::open(NETLINK_GENERIC));
    const int family = genl_ctrl_resolve(socket.get(), TASKSTATS_GENL_NAME);
    if (family < 0) return fail(ENOENT, "this kernel has no statistics of tasks");
    const auto make = [&] {
        auto message = make_generic_message(family, TASKSTATS_GENL_VERSION, TASKSTATS_CMD_GET, 0);
        nla_put_u32(message.get(), TASKSTATS_CMD_ATTR_PID, static_cast<std::uint32_t>(process));
        return message;
    };
    const auto parse = [](const nlmsghdr* message) -> std::optional<std::string> {
        const nlattr* nest = attribute_in(generic_attributes(message), TASKSTATS_TYPE_AGGR_PID);
        const auto* statistics = attribute_in(nest, TASKSTATS_TYPE_STATS);
        if (statistics == nullptr) return std::nullopt;
        const auto task = struct_in<taskstats>(statistics);
        return std::string(task.ac_comm, ::strnlen(task.ac_comm, sizeof task.ac_comm));
    };
    const auto names = TEAMO_TRY(within(fmt::format("process {}", process), socket.list(make, parse)));
    if (names.empty()) return fail(EBADMSG, fmt::format("process {}: no statistics", process));
    return names.front();
}

} // namespace

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
    // The name is in parentheses and may itself have parentheses; the fields after it have none.
    const auto open = text.find('('), close = text.rfind(')');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open)
        return std::nullopt;
    ProcessStat stat{.command = std::string(text.substr(open + 1, close - open - 1))};
    text.remove_prefix(close + 1);
    if (text.ends_with('\n')) text.remove_suffix(1);
    if (!text.starts_with(' ')) return std::nullopt;
    text.remove_prefix(1);
    constexpr unsigned state = 3, parent = 4, user = 14, system = 15, threads = 20, started = 22;
    for (unsigned field = state; field <= started; ++field) {
        const auto word = take_until(text, " ");
        if (field == parent) stat.parent = whole_number<pid_t>(word).value_or(0);
        if (field != user && field != system && field != threads && field != started) continue;
        const auto number = whole_number<std::uint64_t>(word);
        if (!number) return std::nullopt;
        if (field == threads)
            stat.threads = static_cast<unsigned>(std::min<std::uint64_t>(*number, 1U << 22)); // PID_MAX_LIMIT
        else
            (field == started ? stat.started : stat.ticks) += *number;
    }
    return stat;
}

std::optional<ProcessStat> read_process_stat(const std::string& folder) {
    const auto text = read_file(folder + "/stat", 4096);
    return text ? parse_process_stat(*text) : std::nullopt;
}

std::optional<std::uint64_t> read_start_time(const std::string& folder) {
    const auto stat = read_process_stat(folder);
    return stat ? std::optional(stat->started) : std::nullopt;
}

Result<std::string> process_name(pid_t pid) {
    if (auto name = sysfs::first_line(fmt::format("/proc/{}/comm", pid)); !name.empty()) return name;
    // Also a process of another user exists, or one that is hidden.
    if (::kill(pid, 0) < 0 && errno == ESRCH) return fail_errno(ESRCH, fmt::format("process {}", pid));
    auto name = read_task_name(pid);
    if (name || name.error().number == ESRCH) return name;
    return fail(EPERM, std::move(name.error().text));
}

bool is_name_of_daemon(std::string_view name) { return name == "teamd" || name == "teamd-offload"; }

std::optional<pid_t> parse_pid_file(std::string_view text) {
    const auto pid = whole_number<pid_t>(take_until(text, "\n"));
    return pid && *pid > 0 ? pid : std::nullopt;
}

std::optional<pid_t> pid_in(const std::string& path) {
    const auto content = read_file(path, 64);
    return content ? parse_pid_file(*content) : std::nullopt;
}

std::string lock_of(const std::string& pid_file) { return pid_file + ".lock"; }

std::optional<pid_t> running_by(const std::string& path) {
    const auto pid = pid_in(path);
    if (!pid || *pid == ::getpid()) return std::nullopt; // ours: of an earlier boot of a container
    const auto held = LockFile::is_held(lock_of(path));
    if (held && *held) return pid;
    const auto name = process_name(*pid);
    // teamd does not hold our lock: its PID is valid if the process has its name.
    const bool lives = held   ? name && *name == "teamd"
                       : name ? is_name_of_daemon(*name)
                              : held.error().number == EACCES && name.error().number == EPERM;
    return lives ? pid : std::nullopt;
}

std::optional<std::uint64_t> socket_inode(std::string_view link) {
    constexpr std::string_view head = "socket:[";
    if (!link.starts_with(head) || !link.ends_with(']')) return std::nullopt;
    link.remove_prefix(head.size());
    link.remove_suffix(1);
    return whole_number<std::uint64_t>(link);
}

std::size_t each_socket(pid_t pid, const std::function<bool(int, std::uint64_t)>& take) {
    const std::filesystem::path folder = fmt::format("/proc/{}/fd", pid);
    std::size_t seen = 0;
    for (const auto descriptor : sysfs::numbers_in(folder)) {
        ++seen;
        std::error_code closed; // the process may close it, or end, at any time
        const auto target = std::filesystem::read_symlink(folder / std::to_string(descriptor), closed);
        const auto inode = closed ? std::nullopt : socket_inode(target.native());
        if (inode && !take(static_cast<int>(descriptor), *inode)) break;
    }
    return seen;
}

std::map<std::uint64_t, SocketOwner> find_socket_owners(const std::set<std::uint64_t>& inodes) {
    std::map<std::uint64_t, SocketOwner> found;
    std::size_t seen = 0;
    for (const auto number : sysfs::numbers_in("/proc")) {
        if (found.size() >= inodes.size() || seen >= most_descriptors) break;
        const auto pid = static_cast<pid_t>(number);
        seen += each_socket(pid, [&](int /*descriptor*/, std::uint64_t inode) {
            if (!inodes.contains(inode) || found.contains(inode)) return true;
            auto name = sysfs::first_line(fmt::format("/proc/{}/comm", pid));
            found.emplace(inode, SocketOwner{.pid = pid, .name = name.empty() ? "?" : std::move(name)});
            return true;
        });
    }
    return found;
}

void raise_descriptor_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) < 0) return;
    limit.rlim_cur = limit.rlim_max;
    static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
}

} // namespace teamo
