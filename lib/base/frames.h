// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Layers of the frames that the daemon makes itself. Complete Ethernet frames, without padding and checksum.
#pragma once

#include "base/bytes.h"

#include <optional>

namespace teamo {

inline constexpr std::uint16_t ether_ipv4 = 0x0800, ether_arp = 0x0806, ether_vlan = 0x8100,
                               ether_ipv6 = 0x86dd;
inline constexpr std::uint8_t protocol_icmpv6 = 58;
inline constexpr MacAddress broadcast_mac{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};

/// The offset of the checksum in an ICMPv6 or IGMP message.
inline constexpr std::size_t icmp_checksum_offset = 2;

/// RFC 1071, over both parts together; the first must have an even length.
std::uint16_t internet_checksum(std::span<const std::byte> first, std::span<const std::byte> second = {});

/// What a frame says about its sender.
struct FrameSource {
    MacAddress mac{};
    std::optional<std::uint16_t> vlan{}; ///< VID of its tag
};

/// A frame as far as its EtherType.
FrameWriter ethernet_frame(const FrameSource& source, const MacAddress& to, std::uint16_t ethertype);

/// The format that ARP and RARP share (RFC 826, RFC 903), sent to all.
struct Arp {
    std::uint16_t ethertype = ether_arp;
    std::uint16_t operation = 0;
    IpAddress sender{}; ///< its hardware address is that of the source
    MacAddress target_mac{};
    IpAddress target{};
};
Bytes arp_frame(const FrameSource& source, const Arp& arp);

/// To a multicast group.
struct Ipv6Envelope {
    IpAddress from, to;
    std::uint8_t hop_limit = 255;
    bool router_alert = false;
};
/// An ICMPv6 message; its checksum is filled in here.
Bytes icmpv6_frame(const FrameSource& source, const Ipv6Envelope& envelope, FrameWriter message);

} // namespace teamo
