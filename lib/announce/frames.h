// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The frames that announce a team's new port to neighbours and switches after a failover, so that traffic
// does not wait for caches to expire. Complete Ethernet frames of at most 1,514 bytes, plus a VLAN tag.
#pragma once

#include "announce/speaker.h"
#include "base/bytes.h"

#include <vector>

namespace teamo::announce {

/// A gratuitous ARP request for every IPv4 address and an unsolicited neighbour advertisement for every IPv6
/// address, as the kernel sends them at NETDEV_NOTIFY_PEERS (net/ipv4/devinet.c, net/ipv6/ndisc.c). A speaker
/// without an address sends one RARP frame, from which switches learn its MAC address (as QEMU's
/// announce_self).
std::vector<Bytes> peer_announcements(const Speaker& speaker);

/// Reports the speaker's multicast groups again, for switches that snoop: the querier would ask only after
/// minutes. IGMP in the querier's version, MLDv2; current-state records without sources (net/ipv4/igmp.c,
/// ip_mc_rejoin_groups; RFC 3376, RFC 3810).
std::vector<Bytes> membership_reports(const Speaker& speaker);

} // namespace teamo::announce
