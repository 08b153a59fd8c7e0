// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/probe_frames.h"

#include <gtest/gtest.h>

namespace teamo {
namespace {

const MacAddress own{{2, 0, 0, 0, 0, 1}};
const IpAddress from = *parse_ip("10.0.0.1"), target = *parse_ip("10.0.0.2");
const IpAddress from6 = *parse_ip("fe80::1"), target6 = *parse_ip("fd00::12:3456");

/// The same frame as its receiver's packet socket shows it.
Bytes without_tag(Bytes frame) {
    frame.erase(frame.begin() + 12, frame.begin() + 16);
    return frame;
}

Bytes advertisement() {
    auto frame = neighbour_probe({.mac = own}, from6, target6);
    constexpr std::size_t type = 54, checksum = 56;
    frame[type] = std::byte{136};
    const auto sum = static_cast<std::uint16_t>(
        (std::to_integer<unsigned>(frame[checksum]) << 8 | std::to_integer<unsigned>(frame[checksum + 1])) -
        0x0100); // type 136 instead of 135
    frame[checksum] = static_cast<std::byte>(sum >> 8);
    frame[checksum + 1] = static_cast<std::byte>(sum);
    return frame;
}

TEST(ProbeFrames, of_arp_are_requests_to_all) {
    const auto frame = arp_probe({.mac = own}, from, target);
    EXPECT_EQ(frame.size(), 42U);
    EXPECT_EQ(frame[0], std::byte{0xff});
    EXPECT_EQ(parse_arp(frame), (ArpMessage{.is_reply = false, .sender = from, .target = target}));
}

TEST(ProbeFrames, have_the_tag_of_the_vlan) {
    const auto frame = arp_probe({.mac = own, .vlan = 42}, from, target);
    EXPECT_EQ(frame.size(), 46U);
    EXPECT_EQ(frame[12], std::byte{0x81});
    EXPECT_EQ(frame[15], std::byte{42});
    EXPECT_EQ(parse_arp(frame), std::nullopt);
    EXPECT_TRUE(parse_arp(without_tag(frame)));
}

TEST(ProbeFrames, of_neighbours_go_to_the_solicited_node_group) {
    const auto frame = neighbour_probe({.mac = own}, from6, target6);
    const Bytes group{std::byte{0x33}, std::byte{0x33}, std::byte{0xff},
                      std::byte{0x12}, std::byte{0x34}, std::byte{0x56}};
    EXPECT_EQ(Bytes(frame.begin(), frame.begin() + 6), group);
    EXPECT_EQ(frame.size(), 14U + 40 + 24 + 8);
    EXPECT_EQ(parse_neighbour(frame), (NeighbourMessage{.is_advertisement = false, .target = target6}));
    EXPECT_EQ(neighbour_probe({.mac = own}, IpAddress{.ipv6 = true}, target6).size(), 14U + 40 + 24)
        << "without an own address there is no link-layer address (RFC 4861, 7.1.1)";
}

TEST(ProbeFrames, of_neighbours_are_read) {
    EXPECT_EQ(parse_neighbour(advertisement()),
              (NeighbourMessage{.is_advertisement = true, .target = target6}));
}

TEST(ProbeFrames, are_refused_if_one_field_is_wrong) {
    struct Wrong {
        std::size_t offset;
        const char* what;
    };
    for (const auto& [offset, what] : {Wrong{12, "type"},
                                       {15, "hardware"},
                                       {16, "protocol"},
                                       {18, "length"},
                                       {19, "length"},
                                       {20, "operation"}}) {
        auto frame = arp_probe({.mac = own}, from, target);
        frame[offset] ^= std::byte{0x40};
        EXPECT_EQ(parse_arp(frame), std::nullopt) << what;
    }
    for (const auto& [offset, what] : {Wrong{12, "type"},
                                       {14, "version"},
                                       {20, "next header"},
                                       {21, "hop limit"},
                                       {19, "length"},
                                       {54, "message"},
                                       {55, "code"},
                                       {60, "checksum"}}) {
        auto frame = advertisement();
        frame[offset] ^= std::byte{0x40};
        EXPECT_EQ(parse_neighbour(frame), std::nullopt) << what;
    }
}

TEST(ProbeFrames, are_refused_if_they_are_short) {
    const auto arp = arp_probe({.mac = own}, from, target);
    for (std::size_t length = 0; length < arp.size(); ++length)
        EXPECT_EQ(parse_arp(std::span(arp).first(length)), std::nullopt) << length;
    const auto message = advertisement();
    for (std::size_t length = 0; length < message.size(); ++length)
        EXPECT_EQ(parse_neighbour(std::span(message).first(length)), std::nullopt) << length;
}

TEST(ProbeFrames, may_be_padded) {
    auto arp = arp_probe({.mac = own}, from, target), message = advertisement();
    arp.resize(60);
    message.resize(120);
    EXPECT_TRUE(parse_arp(arp));
    EXPECT_TRUE(parse_neighbour(message));
}

} // namespace
} // namespace teamo
