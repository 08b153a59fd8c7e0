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
    std::string name; ///< as /proc/PID/comm has it
    bool operator==(const SocketOwner&) const = default;
};

/// The inode in what a descriptor's link says: "socket:[4711]"; none for any other.
std::optional<std::uint64_t> socket_inode(std::string_view link);

/// The first process that has each of the sockets open. A socket is missing where its process is of another
/// process namespace, or where a million descriptors were looked at before it.
std::map<std::uint64_t, SocketOwner> find_socket_owners(const std::set<std::uint64_t>& inodes);

} // namespace teamo
