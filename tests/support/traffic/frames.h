// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Frames to put on a wire by hand, and words about frames that were seen there.
#pragma once

#include "base/bytes.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace teamo::test {

inline constexpr std::uint16_t ether_ipv4 = 0x0800, ether_arp = 0x0806, ether_vlan = 0x8100,
                               ether_ipv6 = 0x86dd, ether_lldp = 0x88cc;
/// For local experiments (IEEE 802): no stack answers it.
inline constexpr std::uint16_t ether_experiment = 0x88b5;

/// Throws std::invalid_argument for what is no address.
MacAddress mac(std::string_view text);
/// The address `steps` further on.
MacAddress operator+(MacAddress address, std::uint32_t steps);

/// A frame of at least 60 bytes.
Bytes ethernet(const MacAddress& to, const MacAddress& from, std::uint16_t ethertype,
               std::string_view payload);
/// The same with an 802.1Q tag in the frame.
Bytes tagged(const MacAddress& to, const MacAddress& from, std::uint16_t tci, std::uint16_t ethertype,
             std::string_view payload);

struct UdpFlow {
    MacAddress to_mac, from_mac;
    std::string to, from; ///< IPv4 addresses
    std::uint16_t to_port = 0, from_port = 0;
};
Bytes udp4(const UdpFlow& flow, std::string_view payload);

Bytes arp_request(const MacAddress& from_mac, std::string_view from, std::string_view to);

// What a frame is; none of them trusts a length.
std::uint16_t ethertype_of(const Bytes& frame);
MacAddress destination_of(const Bytes& frame);
MacAddress source_of(const Bytes& frame);
/// Bytes from there on, as text; empty where the frame is shorter.
std::string_view from_offset(const Bytes& frame, std::size_t offset);
/// "10.0.0.1" of a gratuitous ARP packet (sender and target the same), else none.
std::optional<std::string> gratuitous_arp_for(const Bytes& frame);
/// "fd00::1" of a neighbour advertisement that nobody asked for (to ff02::1), else none.
std::optional<std::string> unsolicited_advertisement_for(const Bytes& frame);
/// The ICMPv6 type, hop-by-hop options before it skipped; none where it is something else.
std::optional<std::uint8_t> icmp6_type_of(const Bytes& frame);
/// The protocol in an IPv4 header, else none.
std::optional<std::uint8_t> ipv4_protocol_of(const Bytes& frame);

} // namespace teamo::test
