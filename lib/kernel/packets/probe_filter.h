// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Socket filters for the ping watches: the answers to a probe, whatever else arrives at the port.
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

} // namespace teamo
