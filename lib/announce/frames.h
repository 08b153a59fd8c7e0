// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The frames that teach neighbours and switches a team's new way after a failover, so that nobody waits for a
// cache to run out. Whole Ethernet frames of 1,514 bytes at most, plus a VLAN tag.
#pragma once

#include "announce/speaker.h"
#include "base/bytes.h"

#include <vector>

namespace teamo::announce {

/// A gratuitous ARP request for every IPv4 address and an unsolicited neighbour advertisement for every IPv6
/// address, as the kernel sends them at NETDEV_NOTIFY_PEERS (net/ipv4/devinet.c, net/ipv6/ndisc.c). A speaker
/// without any address sends one RARP frame, from which a switch learns its MAC (QEMU's announce_self does
/// so).
std::vector<Bytes> peer_announcements(const Speaker& speaker);

/// The groups it is in, once more, for switches that snoop: the querier would ask only after minutes. IGMP in
/// the querier's version, MLDv2; the state as it is, with no word about sources (net/ipv4/igmp.c,
/// ip_mc_rejoin_groups; RFC 3376, RFC 3810).
std::vector<Bytes> membership_reports(const Speaker& speaker);

} // namespace teamo::announce
