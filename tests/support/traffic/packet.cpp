// SPDX-License-Identifier: LGPL-2.1-or-later
#include "support/traffic/packet.h"

namespace teamo::test {

namespace {

constexpr std::uint16_t ethertype_ipv4 = 0x0800, ethertype_ipv6 = 0x86dd;
constexpr std::uint8_t protocol_tcp = 6, protocol_udp = 17, protocol_sctp = 132, no_operation = 1;

std::uint16_t ones_complement_sum(std::span<const std::byte> bytes) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < bytes.size(); i++)
        sum += std::to_integer<std::uint32_t>(bytes[i]) << (i % 2 == 0 ? 8 : 0);
    sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<std::uint16_t>(sum + (sum >> 16));
}

} // namespace

PacketBuilder::PacketBuilder(const MacAddress& to, const MacAddress& from) {
    frame_.mac(to).mac(from).big_endian(std::uint16_t{0});
}

void PacketBuilder::next_is(std::uint16_t ethertype_or_protocol) {
    if (next_.size == 2) {
        frame_.patch(next_.at, ethertype_or_protocol);
        return;
    }
    const auto beside = std::to_integer<unsigned>(frame_.bytes()[next_.at + 1]);
    frame_.patch(next_.at, static_cast<std::uint16_t>(unsigned{ethertype_or_protocol} << 8 | beside));
}

PacketBuilder& PacketBuilder::vlan(std::uint16_t tci, std::uint16_t ethertype) {
    next_is(ethertype);
    frame_.big_endian(tci);
    next_ = {frame_.size(), 2};
    frame_.big_endian(std::uint16_t{0});
    return *this;
}

PacketBuilder& PacketBuilder::ipv4(const Ipv4Header& header) {
    next_is(ethertype_ipv4);
    const std::size_t at = frame_.size();
    frame_.big_endian(static_cast<std::uint8_t>(0x45 + header.option_words)).big_endian(std::uint8_t{0});
    frame_.big_endian(std::uint16_t{0}).big_endian(std::uint16_t{1}).big_endian(header.fragment);
    frame_.big_endian(std::uint8_t{64}).big_endian(std::uint8_t{0}).big_endian(std::uint16_t{0});
    frame_.big_endian(header.from).big_endian(header.to);
    for (std::size_t i = 0; i < header.option_words * 4; i++)
        frame_.big_endian(no_operation);
    next_ = {at + 9, 1};
    ipv4_at_ = at;
    return *this;
}

PacketBuilder& PacketBuilder::ipv6(const Ipv6Header& header) {
    next_is(ethertype_ipv6);
    const std::size_t at = frame_.size();
    frame_.big_endian(0x60000000U).big_endian(std::uint16_t{0});
    frame_.big_endian(std::uint8_t{0}).big_endian(std::uint8_t{64});
    for (const auto word : header.from)
        frame_.big_endian(word);
    for (const auto word : header.to)
        frame_.big_endian(word);
    next_ = {at + 6, 1};
    ipv6_at_ = at;
    return *this;
}

PacketBuilder& PacketBuilder::extension(std::uint8_t type, std::uint8_t longer) {
    next_is(type);
    next_ = {frame_.size(), 1};
    frame_.big_endian(std::uint8_t{0}).big_endian(longer);
    return payload(6 + 8 * std::size_t{longer});
}

PacketBuilder& PacketBuilder::ipv6_fragment(std::uint16_t offset_and_more) {
    next_is(fragment_header);
    next_ = {frame_.size(), 1};
    frame_.big_endian(std::uint16_t{0}).big_endian(offset_and_more).big_endian(0x12345678U);
    return *this;
}

void PacketBuilder::ports(std::uint8_t protocol, std::uint16_t from, std::uint16_t to, std::size_t length) {
    next_is(protocol);
    frame_.big_endian(from).big_endian(to);
    payload(length - 4);
}

PacketBuilder& PacketBuilder::tcp(std::uint16_t from, std::uint16_t to) {
    ports(protocol_tcp, from, to, 20);
    return *this;
}

PacketBuilder& PacketBuilder::udp(std::uint16_t from, std::uint16_t to) {
    ports(protocol_udp, from, to, 8);
    return *this;
}

PacketBuilder& PacketBuilder::sctp(std::uint16_t from, std::uint16_t to) {
    ports(protocol_sctp, from, to, 12);
    return *this;
}

PacketBuilder& PacketBuilder::other(std::uint16_t type, std::size_t bytes) {
    next_is(type);
    return payload(bytes);
}

PacketBuilder& PacketBuilder::payload(std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; i++)
        frame_.big_endian(std::uint8_t{0});
    return *this;
}

Bytes PacketBuilder::bytes() const {
    FrameWriter whole = frame_;
    if (ipv4_at_) {
        const std::size_t at = *ipv4_at_;
        whole.patch(at + 2, static_cast<std::uint16_t>(whole.size() - at));
        const auto header = (std::to_integer<std::size_t>(whole.bytes()[at]) & 0xf) * 4;
        const auto sum = ones_complement_sum(whole.bytes().subspan(at, header));
        whole.patch(at + 10, static_cast<std::uint16_t>(~sum));
    }
    if (ipv6_at_) whole.patch(*ipv6_at_ + 4, static_cast<std::uint16_t>(whole.size() - *ipv6_at_ - 40));
    return whole.take();
}

} // namespace teamo::test
