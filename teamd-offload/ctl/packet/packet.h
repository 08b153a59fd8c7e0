// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A packet as an administrator describes it, for `balance hash`; pure.
#pragma once

#include "base/ip_address.h"
#include "base/mac_address.h"
#include "base/result.h"
#include "model/config.h"

#include <span>
#include <string>
#include <vector>

namespace teamo::ctl {

struct Packet {
    std::optional<IpAddress> src, dst;
    std::uint8_t protocol = 0; ///< IPPROTO_*; 0: not said
    std::optional<std::uint16_t> sport, dport;
    std::optional<MacAddress> smac, dmac;
    std::vector<std::uint16_t> vlans; ///< VIDs, the outermost first
    bool operator==(const Packet&) const = default;
};

/// "src 10.0.0.1 dst 10.0.0.2 tcp sport 40000 dport 80 smac MAC dmac MAC vlan 7 vlan 8", in any order, each
/// part but vlan once at most. An error is bad usage.
Result<Packet> parse_packet(std::span<const std::string> words);

/// What the hash looks at and the packet does not say: "src", "dport", "dmac", … in that order. A packet that
/// names no part of IP is of another protocol, and one without ports a fragment or such.
std::vector<std::string> missing_parts(const Packet& packet, HashFields fields);

/// Where it goes; what it does not say is zero, so that missing_parts() must be empty for a right answer.
std::uint8_t bucket_of(const Packet& packet, HashFields fields);

} // namespace teamo::ctl
