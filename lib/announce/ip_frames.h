// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The common parts of all announcements: Ethernet and IP headers, Internet checksum.
#pragma once

#include "announce/speaker.h"
#include "base/bytes.h"

#include <cstdint>
#include <span>

namespace teamo::announce {

inline constexpr std::uint16_t ethertype_ipv4 = 0x0800, ethertype_arp = 0x0806, ethertype_vlan = 0x8100,
                               ethertype_rarp = 0x8035, ethertype_ipv6 = 0x86dd;
inline constexpr std::size_t mtu = 1500; ///< that every Ethernet supports
inline constexpr MacAddress broadcast{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};

/// RFC 1071, over both parts together; the first must have an even length.
std::uint16_t internet_checksum(std::span<const std::byte> first, std::span<const std::byte> second = {});

/// A frame as far as its EtherType.
FrameWriter ethernet(const Speaker& speaker, const MacAddress& to, std::uint16_t ethertype);

/// An IGMP message (its checksum at offset 2 filled in here) to a group, with router alert and TTL 1.
Bytes igmp_frame(const Speaker& speaker, const IpAddress& group, FrameWriter message);

struct Ipv6Envelope {
    IpAddress from, to; ///< to a group
    std::uint8_t hop_limit = 255;
    bool router_alert = false;
};
/// An ICMPv6 message (its checksum at offset 2 filled in here).
Bytes icmpv6_frame(const Speaker& speaker, const Ipv6Envelope& envelope, FrameWriter message);

} // namespace teamo::announce
