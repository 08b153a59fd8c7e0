// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace teamo {

struct SocketOwner {
    pid_t pid = 0;
    std::string name; ///< from /proc/PID/comm
    bool operator==(const SocketOwner&) const = default;
};

/// The inode in a descriptor's link, "socket:[4711]"; none for other links.
std::optional<std::uint64_t> socket_inode(std::string_view link);

/// The first process that has each of the sockets open. A socket is missing if its process is in another PID
/// namespace, or if the search ended after a million descriptors.
std::map<std::uint64_t, SocketOwner> find_socket_owners(const std::set<std::uint64_t>& inodes);

} // namespace teamo
