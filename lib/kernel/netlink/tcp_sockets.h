// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/ip_address.h"
#include "base/named.h"
#include "base/result.h"

#include <optional>
#include <vector>

struct nlmsghdr;

namespace teamo {

/// An established TCP connection of this network namespace.
struct TcpSocket {
    IpAddress local, remote; ///< an IPv4 peer of an IPv6 socket is an IPv4 address here
    std::uint16_t local_port = 0, remote_port = 0;
    IfIndex device;          ///< the device that it is bound to, if any
    std::uint64_t inode = 0; ///< as in /proc/PID/fd; 0: no process has it open
    bool operator==(const TcpSocket&) const = default;
};

/// Parses one answer of NETLINK_SOCK_DIAG (linux/inet_diag.h); none for other messages.
std::optional<TcpSocket> parse_tcp_socket(const nlmsghdr* message);

/// All established connections, IPv4 and IPv6. ENOENT: the kernel has no CONFIG_INET_TCP_DIAG.
Result<std::vector<TcpSocket>> read_tcp_connections();

} // namespace teamo
