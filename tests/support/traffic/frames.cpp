// SPDX-License-Identifier: LGPL-2.1-or-later
#include "support/traffic/frames.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>

namespace teamo::test {
namespace {

constexpr std::size_t ethernet_header = 14, ipv4_header = 20, ipv6_header = 40, smallest_frame = 60;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

Bytes padded(Bytes frame) {
    if (frame.size() < smallest_frame) frame.resize(smallest_frame);
    return frame;
}

std::uint32_t ipv4(std::string_view text) {
    in_addr address{};
    if (::inet_pton(AF_INET, std::string(text).c_str(), &address) != 1)
        throw std::invalid_argument(std::string(text));
    return ntohl(address.s_addr);
}

std::uint8_t byte_at(const Bytes& frame, std::size_t offset) {
    return offset < frame.size() ? std::to_integer<std::uint8_t>(frame[offset]) : std::uint8_t{0};
}

std::uint16_t word_at(const Bytes& frame, std::size_t offset) {
    return static_cast<std::uint16_t>(byte_at(frame, offset) << 8 | byte_at(frame, offset + 1));
}

MacAddress mac_at(const Bytes& frame, std::size_t offset) {
    MacAddress address;
    for (std::size_t index = 0; index < address.bytes.size(); ++index)
        address.bytes.at(index) = byte_at(frame, offset + index);
    return address;
}

std::string address_at(int family, const Bytes& frame, std::size_t offset) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (offset + (family == AF_INET ? 4 : 16) > frame.size()) return "";
    return ::inet_ntop(family, &frame[offset], text.data(), text.size());
}

std::uint16_t internet_checksum(std::span<const std::byte> bytes) {
    std::uint32_t sum = 0;
    for (std::size_t index = 0; index + 1 < bytes.size(); index += 2)
        sum += std::to_integer<std::uint32_t>(bytes[index]) << 8 |
               std::to_integer<std::uint32_t>(bytes[index + 1]);
    while (sum >> 16 != 0)
        sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<std::uint16_t>(~sum);
}

/// The offset of the ICMPv6 header; 0 if there is none.
std::size_t icmp6_offset(const Bytes& frame) {
    constexpr std::uint8_t hop_by_hop = 0, icmp6 = 58;
    if (ethertype_of(frame) != ether_ipv6) return 0;
    const auto next = byte_at(frame, ethernet_header + 6);
    const auto after = ethernet_header + ipv6_header;
    if (next == icmp6) return after;
    if (next != hop_by_hop || byte_at(frame, after) != icmp6) return 0;
    return after + 8 * (1 + std::size_t{byte_at(frame, after + 1)});
}

} // namespace

MacAddress mac(std::string_view text) {
    const auto parsed = parse_mac_address(text);
    if (!parsed) throw std::invalid_argument(std::string(text));
    return *parsed;
}

MacAddress operator+(MacAddress address, std::uint32_t steps) {
    std::uint32_t low = 0;
    for (std::size_t index = 2; index < 6; ++index)
        low = low << 8 | address.bytes.at(index);
    low += steps;
    for (std::size_t index = 6; index-- > 2; low >>= 8)
        address.bytes.at(index) = static_cast<std::uint8_t>(low);
    return address;
}

Bytes ethernet(const MacAddress& to, const MacAddress& from, std::uint16_t ethertype,
               std::string_view payload) {
    return padded(FrameWriter().mac(to).mac(from).big_endian(ethertype).raw(bytes_of(payload)).take());
}

Bytes tagged(const MacAddress& to, const MacAddress& from, std::uint16_t tci, std::uint16_t ethertype,
             std::string_view payload) {
    return padded(FrameWriter()
                      .mac(to)
                      .mac(from)
                      .big_endian(ether_vlan)
                      .big_endian(tci)
                      .big_endian(ethertype)
                      .raw(bytes_of(payload))
                      .take());
}

Bytes udp4(const UdpFlow& flow, std::string_view payload) {
    constexpr std::uint16_t udp_header = 8, version_and_length = 0x4500, ttl_and_udp = 64 << 8 | 17;
    FrameWriter frame;
    frame.mac(flow.to_mac).mac(flow.from_mac).big_endian(ether_ipv4);
    frame.big_endian(version_and_length)
        .big_endian(static_cast<std::uint16_t>(ipv4_header + udp_header + payload.size()))
        .big_endian(std::uint32_t{0})
        .big_endian(ttl_and_udp)
        .big_endian(std::uint16_t{0})
        .big_endian(ipv4(flow.from))
        .big_endian(ipv4(flow.to));
    frame.patch(ethernet_header + 10, internet_checksum(frame.bytes().subspan(ethernet_header)));
    frame.big_endian(flow.from_port)
        .big_endian(flow.to_port)
        .big_endian(static_cast<std::uint16_t>(udp_header + payload.size()))
        .big_endian(std::uint16_t{0}) // no checksum: IPv4 allows it
        .raw(bytes_of(payload));
    return padded(frame.take());
}

Bytes arp_request(const MacAddress& from_mac, std::string_view from, std::string_view to) {
    constexpr std::uint16_t ethernet_hardware = 1, lengths = 6 << 8 | 4, request = 1;
    return padded(FrameWriter()
                      .mac(mac("ff:ff:ff:ff:ff:ff"))
                      .mac(from_mac)
                      .big_endian(ether_arp)
                      .big_endian(ethernet_hardware)
                      .big_endian(ether_ipv4)
                      .big_endian(lengths)
                      .big_endian(request)
                      .mac(from_mac)
                      .big_endian(ipv4(from))
                      .mac({})
                      .big_endian(ipv4(to))
                      .take());
}

std::uint16_t ethertype_of(const Bytes& frame) { return word_at(frame, 12); }
MacAddress destination_of(const Bytes& frame) { return mac_at(frame, 0); }
MacAddress source_of(const Bytes& frame) { return mac_at(frame, 6); }

std::string_view from_offset(const Bytes& frame, std::size_t offset) {
    if (offset >= frame.size()) return {};
    return {reinterpret_cast<const char*>(frame.data()) + offset, frame.size() - offset};
}

std::optional<std::string> gratuitous_arp_for(const Bytes& frame) {
    if (ethertype_of(frame) != ether_arp) return std::nullopt;
    const auto sender = address_at(AF_INET, frame, ethernet_header + 14);
    if (sender != address_at(AF_INET, frame, ethernet_header + 24)) return std::nullopt;
    return sender;
}

std::optional<std::string> unsolicited_advertisement_for(const Bytes& frame) {
    constexpr std::uint8_t advertisement = 136;
    const auto offset = icmp6_offset(frame);
    if (icmp6_type_of(frame) != advertisement) return std::nullopt;
    if (address_at(AF_INET6, frame, ethernet_header + 24) != "ff02::1") return std::nullopt;
    return address_at(AF_INET6, frame, offset + 8);
}

std::optional<std::uint8_t> icmp6_type_of(const Bytes& frame) {
    const auto offset = icmp6_offset(frame);
    if (offset == 0) return std::nullopt;
    return byte_at(frame, offset);
}

std::optional<std::uint8_t> ipv4_protocol_of(const Bytes& frame) {
    if (ethertype_of(frame) != ether_ipv4) return std::nullopt;
    return byte_at(frame, ethernet_header + 9);
}

} // namespace teamo::test
