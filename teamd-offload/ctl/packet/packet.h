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
    std::optional<IpAddress> src{}, dst{};
    std::uint8_t protocol = 0; ///< IPPROTO_*; 0: not given
    std::optional<std::uint16_t> sport{}, dport{};
    std::optional<MacAddress> smac{}, dmac{};
    std::vector<std::uint16_t> vlans{}; ///< VIDs, the outermost first
    bool operator==(const Packet&) const = default;
};

/// "src 10.0.0.1 dst 10.0.0.2 tcp sport 40000 dport 80 smac MAC dmac MAC vlan 7 vlan 8", in any order, each
/// part at most once, but vlan twice. An error is bad usage.
Result<Packet> parse_packet(std::span<const std::string> words);

/// What the hash needs and the packet does not have: "src", "dport", "dmac", … in that order. A packet
/// without any part of IP is of another protocol than IP, and a packet without a protocol needs no ports.
std::vector<std::string> missing_parts(const Packet& packet, HashFields fields);

/// Missing parts count as zero: the result is right only if missing_parts() is empty.
std::uint8_t bucket_of(const Packet& packet, HashFields fields);

} // namespace teamo::ctl
