// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Packets and their flows: the input for each implementation that finds a packet's bucket.
#pragma once

#include "addresses.h"
#include "datapath/bpf/flow_hash.h"
#include "support/traffic/packet.h"

#include <array>
#include <random>
#include <string>
#include <vector>

namespace teamo::test::hash_cases {

inline constexpr std::uint32_t l4 = TEAMO_HASH_TCP | TEAMO_HASH_UDP | TEAMO_HASH_SCTP;
inline constexpr std::uint32_t everything =
    TEAMO_HASH_ETH | TEAMO_HASH_VLAN | TEAMO_HASH_IPV4 | TEAMO_HASH_IPV6 | l4;
inline constexpr std::uint64_t peer_number = 0x525400aabbcc, own_number = 0x021122334455;
inline constexpr std::uint32_t ip_from = 0x0a000001, ip_to = 0x0a000002;
inline constexpr Ipv6Words ip6_from{0xfd000000, 0x1111, 0x2222, 1}, ip6_to{0xfd000000, 0x3333, 0x4444, 2};
inline constexpr std::uint8_t tcp = 6, udp = 17, sctp = 132;

/// The start of a packet from `own` to `peer`.
PacketBuilder start();
Ipv4Header ip(std::uint16_t fragment = 0, std::size_t options = 0);
Ipv6Header ip6();

/// Flows between these addresses; with a protocol, from port 1111 to 2222.
teamo_flow macs();
teamo_flow v4(std::uint8_t protocol = 0, std::uint32_t vlan = 0);
teamo_flow v6(std::uint8_t protocol = 0, std::uint32_t vlan = 0);

/// A packet and its flow.
struct Case {
    std::string what;
    Bytes packet;
    teamo_flow flow;
};

std::vector<Case> plain_cases();
std::vector<Case> fragment_cases();
std::vector<Case> extension_cases();
std::vector<Case> vlan_cases();
/// A random complete packet of any kind.
Case random_case(std::mt19937& random);

/// Every hash field alone, some combinations, all and none.
const std::vector<std::uint32_t>& field_sets();

} // namespace teamo::test::hash_cases
