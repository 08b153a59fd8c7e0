// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/probe_frames.h"

#include <algorithm>

namespace teamo {
namespace {

constexpr std::size_t ethernet_header = 14;
constexpr std::uint16_t arp_request = 1, arp_reply = 2, hardware_ethernet = 1;
constexpr std::uint8_t neighbour_solicitation = 135, neighbour_advertisement = 136;

/// The EtherType of a frame that has one.
std::uint16_t ethertype_of(std::span<const std::byte> frame) { return FrameReader(frame.subspan(12)).two(); }

/// The group in which the owner of an address listens for solicitations (RFC 4291, 2.7.1).
IpAddress solicited_node(const IpAddress& address) {
    IpAddress group{.ipv6 = true, .bytes = {0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff}};
    std::ranges::copy(std::span(address.bytes).last(3), group.bytes.end() - 3);
    return group;
}

} // namespace

Bytes arp_probe(const FrameSource& source, const IpAddress& from, const IpAddress& target) {
    return arp_frame(source, {.operation = arp_request, .sender = from, .target = target});
}

Bytes neighbour_probe(const FrameSource& source, const IpAddress& from, const IpAddress& target) {
    constexpr std::uint8_t source_link_layer_address = 1, length_in_8_bytes = 1;
    FrameWriter message;
    message.big_endian(neighbour_solicitation).big_endian(std::uint8_t{0}).big_endian(std::uint16_t{0});
    message.big_endian(std::uint32_t{0}).ip(target);
    // Without an own address it must not have this option (RFC 4861, 7.1.1).
    if (from != IpAddress{.ipv6 = true})
        message.big_endian(source_link_layer_address).big_endian(length_in_8_bytes).mac(source.mac);
    return icmpv6_frame(source, {.from = from, .to = solicited_node(target)}, std::move(message));
}

std::optional<ArpMessage> parse_arp(std::span<const std::byte> frame) {
    constexpr std::size_t size = 28;
    if (frame.size() < ethernet_header + size || ethertype_of(frame) != ether_arp) return std::nullopt;
    FrameReader arp(frame.subspan(ethernet_header));
    if (arp.two() != hardware_ethernet || arp.two() != ether_ipv4 || arp.byte() != 6 || arp.byte() != 4)
        return std::nullopt;
    const auto operation = arp.two();
    if (operation != arp_request && operation != arp_reply) return std::nullopt;
    ArpMessage message{.is_reply = operation == arp_reply, .sender = {}, .target = {}};
    arp.mac();
    message.sender = arp.ip(/*ipv6=*/false);
    arp.mac();
    message.target = arp.ip(/*ipv6=*/false);
    return message;
}

std::optional<NeighbourMessage> parse_neighbour(std::span<const std::byte> frame) {
    constexpr std::size_t ip_header = 40, shortest = 24; // of a message, without options
    if (frame.size() < ethernet_header + ip_header + shortest || ethertype_of(frame) != ether_ipv6)
        return std::nullopt;
    const auto ip = frame.subspan(ethernet_header);
    FrameReader header(ip);
    const auto version = header.byte() >> 4;
    header.skip(3);
    const std::size_t length = header.two();
    const auto next_header = header.byte(), hop_limit = header.byte();
    // Hop limit 255: no router has passed it on.
    if (version != 6 || next_header != protocol_icmpv6 || hop_limit != 255 || length < shortest ||
        ip.size() < ip_header + length)
        return std::nullopt;
    const auto message = ip.subspan(ip_header, length);
    FrameReader reader(message);
    const auto type = reader.byte(), code = reader.byte();
    if ((type != neighbour_solicitation && type != neighbour_advertisement) || code != 0) return std::nullopt;
    FrameWriter pseudo_header;
    pseudo_header.raw(ip.subspan(8, 32));
    pseudo_header.big_endian(static_cast<std::uint32_t>(length)).big_endian(std::uint32_t{protocol_icmpv6});
    if (internet_checksum(pseudo_header.bytes(), message) != 0) return std::nullopt;
    reader.skip(6); // checksum and flags
    return NeighbourMessage{.is_advertisement = type == neighbour_advertisement,
                            .target = reader.ip(/*ipv6=*/true)};
}

} // namespace teamo
