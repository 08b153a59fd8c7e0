// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Builds a packet from the outer header to the inner: PacketBuilder(to, from).vlan(5).ipv4({...}).tcp(80,
// 1024). It sets each header's next protocol, and at the end the lengths and the IPv4 header's checksum.
// Checksums of the transport protocol stay zero.
#pragma once

#include "base/bytes.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace teamo::test {

using Ipv6Words = std::array<std::uint32_t, 4>;

struct Ipv4Header {
    std::uint32_t from = 0x0a000001, to = 0x0a000002; ///< 10.0.0.1, 10.0.0.2
    std::uint16_t fragment = 0;   ///< flags and offset as on the wire: 0x2000 means more fragments
    std::size_t option_words = 0; ///< no-operation options, 4 bytes each, up to 10
};

struct Ipv6Header {
    Ipv6Words from{0xfd000000, 0, 0, 1}, to{0xfd000000, 0, 0, 2};
};

class PacketBuilder {
public:
    static constexpr std::uint16_t dot1q = 0x8100, dot1ad = 0x88a8;
    static constexpr std::uint8_t hop_by_hop = 0, routing = 43, fragment_header = 44, destination = 60;

    PacketBuilder(const MacAddress& to, const MacAddress& from);

    PacketBuilder& vlan(std::uint16_t tci, std::uint16_t ethertype = dot1q);
    PacketBuilder& ipv4(const Ipv4Header& header);
    PacketBuilder& ipv6(const Ipv6Header& header);
    /// An IPv6 extension header of (1 + longer) * 8 bytes.
    PacketBuilder& extension(std::uint8_t type, std::uint8_t longer = 0);
    PacketBuilder& ipv6_fragment(std::uint16_t offset_and_more);
    PacketBuilder& tcp(std::uint16_t from, std::uint16_t to);
    PacketBuilder& udp(std::uint16_t from, std::uint16_t to);
    PacketBuilder& sctp(std::uint16_t from, std::uint16_t to);
    /// A header with any other IP protocol or EtherType, and its bytes.
    PacketBuilder& other(std::uint16_t type, std::size_t bytes = 8);
    PacketBuilder& payload(std::size_t bytes);

    Bytes bytes() const;

private:
    void next_is(std::uint16_t ethertype_or_protocol);
    void ports(std::uint8_t protocol, std::uint16_t from, std::uint16_t to, std::size_t length);

    FrameWriter frame_;
    struct Field {
        std::size_t at, size;
    } next_{12, 2};                                ///< position of the last header's next protocol
    std::optional<std::size_t> ipv4_at_, ipv6_at_; ///< the header whose length is still to be filled in
};

} // namespace teamo::test
