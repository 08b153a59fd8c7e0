// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Builds frames, and checks received frames.
#pragma once

#include "base/frames.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace teamo::test {

inline constexpr std::uint16_t ether_lldp = 0x88cc;
/// EtherType for local experiments (IEEE 802): no stack replies to it.
inline constexpr std::uint16_t ether_experiment = 0x88b5;

/// Throws std::invalid_argument for an invalid address.
MacAddress mac(std::string_view text);
/// The address plus `steps`.
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

// Checks of frames. All of them accept truncated frames.
std::uint16_t ethertype_of(const Bytes& frame);
MacAddress destination_of(const Bytes& frame);
MacAddress source_of(const Bytes& frame);
/// The bytes from this offset as text; empty if the frame is shorter.
std::string_view from_offset(const Bytes& frame, std::size_t offset);
/// "10.0.0.1" of a gratuitous ARP packet (sender and target the same), else none.
std::optional<std::string> gratuitous_arp_for(const Bytes& frame);
/// "fd00::1" of an unsolicited neighbour advertisement (to ff02::1), else none.
std::optional<std::string> unsolicited_advertisement_for(const Bytes& frame);
/// The ICMPv6 type, also after hop-by-hop options; none for other frames.
std::optional<std::uint8_t> icmp6_type_of(const Bytes& frame);
/// The protocol of an IPv4 packet, else none.
std::optional<std::uint8_t> ipv4_protocol_of(const Bytes& frame);

} // namespace teamo::test
