// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/frames.h"

namespace teamo {

std::uint16_t internet_checksum(std::span<const std::byte> first, std::span<const std::byte> second) {
    std::uint64_t sum = 0;
    for (const auto part : {first, second})
        for (std::size_t i = 0; i < part.size(); i++)
            sum += std::to_integer<std::uint64_t>(part[i]) << (i % 2 == 0 ? 8 : 0);
    while (sum > 0xffff)
        sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<std::uint16_t>(~sum);
}

FrameWriter ethernet_frame(const FrameSource& source, const MacAddress& to, std::uint16_t ethertype) {
    FrameWriter frame;
    frame.mac(to).mac(source.mac);
    if (source.vlan)
        frame.big_endian(ether_vlan).big_endian(static_cast<std::uint16_t>(*source.vlan & 0x0fff));
    frame.big_endian(ethertype);
    return frame;
}

Bytes arp_frame(const FrameSource& source, const Arp& arp) {
    constexpr std::uint16_t hardware_ethernet = 1;
    auto frame = ethernet_frame(source, broadcast_mac, arp.ethertype);
    frame.big_endian(hardware_ethernet).big_endian(ether_ipv4);
    frame.big_endian(std::uint8_t{6}).big_endian(std::uint8_t{4}).big_endian(arp.operation);
    return frame.mac(source.mac).ip(arp.sender).mac(arp.target_mac).ip(arp.target).take();
}

Bytes icmpv6_frame(const FrameSource& source, const Ipv6Envelope& envelope, FrameWriter message) {
    constexpr std::uint8_t hop_by_hop = 0;
    FrameWriter pseudo_header; // RFC 8200, 8.1
    pseudo_header.ip(envelope.from).ip(envelope.to);
    pseudo_header.big_endian(static_cast<std::uint32_t>(message.size()));
    pseudo_header.big_endian(std::uint32_t{protocol_icmpv6});
    message.patch(icmp_checksum_offset, internet_checksum(pseudo_header.bytes(), message.bytes()));

    FrameWriter options;
    if (envelope.router_alert) {
        options.big_endian(protocol_icmpv6).big_endian(std::uint8_t{0});
        options.big_endian(0x05020000U).big_endian(std::uint16_t{0x0100}); // MLD (RFC 2711), PadN of 0
    }
    auto frame = ethernet_frame(source, multicast_mac(envelope.to).value_or(broadcast_mac), ether_ipv6);
    frame.big_endian(0x60000000U).big_endian(static_cast<std::uint16_t>(options.size() + message.size()));
    frame.big_endian(envelope.router_alert ? hop_by_hop : protocol_icmpv6).big_endian(envelope.hop_limit);
    frame.ip(envelope.from).ip(envelope.to);
    return frame.raw(options.bytes()).raw(message.bytes()).take();
}

} // namespace teamo
