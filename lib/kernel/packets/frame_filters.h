// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Socket filters for the ping watches: the answers to a probe, whatever else arrives at the port; and for
// LLDP.
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace teamo {

/// Bytes of an answer that the filters pass: more than it needs.
inline constexpr std::uint32_t longest_probe_answer = 512;

/// ARP requests and replies with this VID; without one, untagged and with VID 0.
std::vector<sock_filter> arp_filter(std::optional<std::uint16_t> vlan);

/// Untagged neighbour solicitations and advertisements.
std::vector<sock_filter> neighbour_filter();

/// Frames of LLDP to 01:80:c2:00:00:0e, :03 or :00, without a tag, complete.
std::vector<sock_filter> lldp_filter();

} // namespace teamo
