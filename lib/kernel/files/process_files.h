// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the kernel shows of processes: their name, start and CPU time, and the sockets that they have open;
// and how many of them this process may have.
#pragma once

#include "base/result.h"

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace teamo {

struct ProcessStat {
    std::string command;     ///< may contain any character, also blanks and parentheses
    pid_t parent = 0;        ///< 0: none, or in another PID namespace
    std::uint64_t ticks = 0; ///< CPU time of all its threads, in USER_HZ
    unsigned threads = 0;
    std::uint64_t started = 0; ///< in ticks since boot
    bool operator==(const ProcessStat&) const = default;
};

/// Parses /proc/PID/stat, or that of a thread (proc(5)). Untrusted input: processes choose their own name.
std::optional<ProcessStat> parse_process_stat(std::string_view text);

/// `folder`: "/proc/PID" or "/proc/PID/task/TID". None: no such process or thread.
std::optional<ProcessStat> read_process_stat(const std::string& folder);

/// When a process or thread started, because PIDs are reused; in ticks since boot. None: as above.
std::optional<std::uint64_t> read_start_time(const std::string& folder);

/// The name of a process, also of one that /proc hides (hidepid=, systemd's ProtectProc=). ESRCH: no such
/// process; EPERM: it lives, and nothing shows its name.
Result<std::string> process_name(pid_t pid);

/// Whether the name is that of a daemon of a team: "teamd-offload", or "teamd", which may be ours or
/// libteam's.
bool is_name_of_daemon(std::string_view name);

/// The number in a PID file, "4711\n". None: it is no process's.
std::optional<pid_t> parse_pid_file(std::string_view text);

/// The number in the PID file of that path.
std::optional<pid_t> pid_in(const std::string& path);

/// The lock that the daemon with that PID file holds as long as it lives.
std::string lock_of(const std::string& pid_file);

/// The PID of the daemon that runs with this PID file, ours or teamd. If the caller may not open the lock,
/// the name of the process decides, or that there is one if /proc hides it.
std::optional<pid_t> running_by(const std::string& path);

/// A search through all processes ends after so many descriptors.
inline constexpr std::size_t most_descriptors = 1'000'000;

/// Calls `take` with the descriptor and the inode of each socket that the process has open, until it returns
/// false. Returns the number of descriptors that it read, also of other files.
std::size_t each_socket(pid_t pid, const std::function<bool(int, std::uint64_t)>& take);

struct SocketOwner {
    pid_t pid = 0;
    std::string name; ///< from /proc/PID/comm
    bool operator==(const SocketOwner&) const = default;
};

/// The inode in a descriptor's link, "socket:[4711]"; none for other links.
std::optional<std::uint64_t> socket_inode(std::string_view link);

/// The first process that has each of the sockets open. A socket is missing if its process is in another PID
/// namespace, or if the search ended early (most_descriptors).
std::map<std::uint64_t, SocketOwner> find_socket_owners(const std::set<std::uint64_t>& inodes);

/// To the hard limit: the usual one is 1024 descriptors.
void raise_descriptor_limit();

} // namespace teamo
