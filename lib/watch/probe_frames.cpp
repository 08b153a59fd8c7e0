// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/probe_frames.h"

#include <algorithm>

namespace teamo {
namespace {

constexpr std::size_t ethernet_header = 14;
constexpr std::uint16_t arp_request = 1, arp_reply = 2, hardware_ethernet = 1;
constexpr std::uint8_t neighbour_solicitation = 135, neighbour_advertisement = 136;

// Offsets are checked by the callers.
std::uint8_t byte_at(std::span<const std::byte> bytes, std::size_t offset) {
    return std::to_integer<std::uint8_t>(bytes[offset]);
}

std::uint16_t two_at(std::span<const std::byte> bytes, std::size_t offset) {
    return static_cast<std::uint16_t>(byte_at(bytes, offset) << 8 | byte_at(bytes, offset + 1));
}

IpAddress ip_at(std::span<const std::byte> bytes, std::size_t offset, bool ipv6) {
    IpAddress address{.ipv6 = ipv6};
    for (std::size_t i = 0; i < address.size(); ++i)
        address.bytes[i] = byte_at(bytes, offset + i);
    return address;
}

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
    if (frame.size() < ethernet_header + size || two_at(frame, 12) != ether_arp) return std::nullopt;
    const auto arp = frame.subspan(ethernet_header, size);
    const auto operation = two_at(arp, 6);
    if (two_at(arp, 0) != hardware_ethernet || two_at(arp, 2) != ether_ipv4 || byte_at(arp, 4) != 6 ||
        byte_at(arp, 5) != 4 || (operation != arp_request && operation != arp_reply))
        return std::nullopt;
    return ArpMessage{
        .is_reply = operation == arp_reply, .sender = ip_at(arp, 14, false), .target = ip_at(arp, 24, false)};
}

std::optional<NeighbourMessage> parse_neighbour(std::span<const std::byte> frame) {
    constexpr std::size_t ip_header = 40, shortest = 24; // of a message, without options
    if (frame.size() < ethernet_header + ip_header + shortest || two_at(frame, 12) != ether_ipv6)
        return std::nullopt;
    const auto ip = frame.subspan(ethernet_header);
    const std::size_t length = two_at(ip, 4);
    // Hop limit 255: no router has passed it on.
    if (byte_at(ip, 0) >> 4 != 6 || byte_at(ip, 6) != protocol_icmpv6 || byte_at(ip, 7) != 255 ||
        length < shortest || ip.size() < ip_header + length)
        return std::nullopt;
    const auto message = ip.subspan(ip_header, length);
    const auto type = byte_at(message, 0);
    if ((type != neighbour_solicitation && type != neighbour_advertisement) || byte_at(message, 1) != 0)
        return std::nullopt;
    FrameWriter pseudo_header;
    pseudo_header.raw(ip.subspan(8, 32));
    pseudo_header.big_endian(static_cast<std::uint32_t>(length)).big_endian(std::uint32_t{protocol_icmpv6});
    if (internet_checksum(pseudo_header.bytes(), message) != 0) return std::nullopt;
    return NeighbourMessage{.is_advertisement = type == neighbour_advertisement,
                            .target = ip_at(message, 8, true)};
}

} // namespace teamo
