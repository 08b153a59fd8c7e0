// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The frames that announce a team's new port to neighbours and switches after a failover, so that traffic
// does not wait for caches to expire. Complete Ethernet frames of at most 1,514 bytes, plus a VLAN tag.
#pragma once

#include "base/bytes.h"

#include <optional>
#include <vector>

namespace teamo::announce {

/// The version that the network's querier speaks, as the kernel found out (/proc/net/igmp).
enum class IgmpVersion : std::uint8_t { v1 = 1, v2, v3 };

/// A device that sends announcements after a failover (the team, or a VLAN on it), with its addresses.
struct Speaker {
    MacAddress mac{};
    std::optional<std::uint16_t> vlan{}; ///< VID of its frames
    std::vector<IpAddress> ipv4{};
    std::vector<IpAddress> ipv6{}; ///< without tentative ones, which must not be announced yet
    std::vector<IpAddress> ipv4_groups{};
    std::vector<IpAddress> ipv6_groups{};
    IgmpVersion igmp = IgmpVersion::v3;
    /// It forwards IPv6 (net.ipv6.conf.DEVICE.forwarding). If this is wrongly false, neighbours drop their
    /// default route (RFC 4861, 7.2.5).
    bool router = false;
};

/// A gratuitous ARP request for every IPv4 address and an unsolicited neighbour advertisement for every IPv6
/// address, as the kernel sends them at NETDEV_NOTIFY_PEERS (net/ipv4/devinet.c, net/ipv6/ndisc.c). A speaker
/// without an address sends one RARP frame, from which switches learn its MAC address (as QEMU's
/// announce_self).
std::vector<Bytes> peer_announcements(const Speaker& speaker);

/// A RARP frame by which switches learn where an address is.
Bytes learning_frame(const MacAddress& address, std::optional<std::uint16_t> vlan);

/// Reports the speaker's multicast groups again, for switches that snoop: the querier would ask only after
/// minutes. IGMP in the querier's version, MLDv2; current-state records without sources (net/ipv4/igmp.c,
/// ip_mc_rejoin_groups; RFC 3376, RFC 3810).
std::vector<Bytes> membership_reports(const Speaker& speaker);
/// False: the group that every host is in, and scopes 0 and 1, which never leave the host (RFC 3810, 6;
/// RFC 4291, 2.7).
bool is_reported(const IpAddress& group);

} // namespace teamo::announce
