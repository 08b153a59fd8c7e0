// SPDX-License-Identifier: LGPL-2.1-or-later
#include "announce/ip_frames.h"

namespace teamo::announce {

namespace {

constexpr std::uint8_t protocol_igmp = 2, protocol_icmpv6 = 58, hop_by_hop = 0;
constexpr std::uint8_t internetwork_control = 0xc0; // traffic class CS6, as the kernel marks IGMP
constexpr std::uint16_t dont_fragment = 0x4000;
constexpr std::size_t checksum_offset = 2; // in IGMP and ICMPv6 alike

void add(std::uint64_t& sum, std::span<const std::byte> bytes) {
    for (std::size_t i = 0; i < bytes.size(); i++)
        sum += std::to_integer<std::uint64_t>(bytes[i]) << (i % 2 == 0 ? 8 : 0);
}

} // namespace

std::uint16_t internet_checksum(std::span<const std::byte> first, std::span<const std::byte> second) {
    std::uint64_t sum = 0;
    add(sum, first);
    add(sum, second);
    while (sum > 0xffff)
        sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<std::uint16_t>(~sum);
}

FrameWriter ethernet(const Speaker& speaker, const MacAddress& to, std::uint16_t ethertype) {
    FrameWriter frame;
    frame.mac(to).mac(speaker.mac);
    if (speaker.vlan)
        frame.big_endian(ethertype_vlan).big_endian(static_cast<std::uint16_t>(*speaker.vlan & 0x0fff));
    frame.big_endian(ethertype);
    return frame;
}

Bytes igmp_frame(const Speaker& speaker, const IpAddress& group, FrameWriter message) {
    constexpr std::size_t header_size = 24, header_checksum = 10;
    message.patch(checksum_offset, internet_checksum(message.bytes()));

    FrameWriter header;
    header.big_endian(std::uint8_t{0x46}).big_endian(internetwork_control);
    header.big_endian(static_cast<std::uint16_t>(header_size + message.size())).big_endian(std::uint16_t{0});
    header.big_endian(dont_fragment).big_endian(std::uint8_t{1}).big_endian(protocol_igmp);
    header.big_endian(std::uint16_t{0});
    // Without an address it reports as 0.0.0.0, and is heard (RFC 3376, 4.2.13).
    header.ip(speaker.ipv4.empty() ? IpAddress{} : speaker.ipv4.front()).ip(group);
    header.big_endian(0x94040000U); // router alert (RFC 2113)
    header.patch(header_checksum, internet_checksum(header.bytes()));

    auto frame = ethernet(speaker, multicast_mac(group).value_or(broadcast), ethertype_ipv4);
    return frame.raw(header.bytes()).raw(message.bytes()).take();
}

Bytes icmpv6_frame(const Speaker& speaker, const Ipv6Envelope& envelope, FrameWriter message) {
    FrameWriter pseudo_header; // RFC 8200, 8.1
    pseudo_header.ip(envelope.from).ip(envelope.to);
    pseudo_header.big_endian(static_cast<std::uint32_t>(message.size()));
    pseudo_header.big_endian(std::uint32_t{protocol_icmpv6});
    message.patch(checksum_offset, internet_checksum(pseudo_header.bytes(), message.bytes()));

    FrameWriter options;
    if (envelope.router_alert) {
        options.big_endian(protocol_icmpv6).big_endian(std::uint8_t{0});
        options.big_endian(0x05020000U).big_endian(std::uint16_t{0x0100}); // MLD (RFC 2711), PadN of 0
    }
    auto frame = ethernet(speaker, multicast_mac(envelope.to).value_or(broadcast), ethertype_ipv6);
    frame.big_endian(0x60000000U).big_endian(static_cast<std::uint16_t>(options.size() + message.size()));
    frame.big_endian(envelope.router_alert ? hop_by_hop : protocol_icmpv6).big_endian(envelope.hop_limit);
    frame.ip(envelope.from).ip(envelope.to);
    return frame.raw(options.bytes()).raw(message.bytes()).take();
}

} // namespace teamo::announce
