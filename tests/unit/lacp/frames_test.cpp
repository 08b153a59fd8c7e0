// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lacp/lacpdu.h"
#include "variables.h"

namespace teamo::lacp {
namespace {

constexpr MacAddress source{{2, 0, 0, 0, 0, 9}};

Bytes sample() { return build_frame(Lacpdu{.actor = own_info(), .partner = partner_info()}, source); }

void set(Bytes& frame, std::size_t at, int value) { frame.at(at) = static_cast<std::byte>(value); }

TEST(LacpFrames, are_read_as_they_were_written) {
    const Lacpdu pdu{.actor = own_info(), .partner = partner_info(), .collector_max_delay = 500};
    EXPECT_EQ(Received(pdu), parse_frame(build_frame(pdu, source)));
    const Marker marker{
        .is_response = true, .requester_port = 3, .requester_system = source, .transaction = 7};
    EXPECT_EQ(Received(marker), parse_frame(build_frame(marker, source)));
}

/// Offsets as in IEEE 802.1AX-2020, figure 6-7, after 14 bytes of Ethernet header.
TEST(LacpFrames, have_the_layout_of_the_standard) {
    const auto frame = sample();
    ASSERT_EQ(124U, frame.size());
    const auto at = [&](std::size_t offset) { return std::to_integer<int>(frame[offset]); };
    EXPECT_EQ(0x01, at(0));
    EXPECT_EQ(0x02, at(5));
    EXPECT_EQ(0x88, at(12));
    EXPECT_EQ(0x09, at(13));
    EXPECT_EQ(1, at(14)); // subtype
    EXPECT_EQ(1, at(15)); // version
    EXPECT_EQ(1, at(16)); // actor
    EXPECT_EQ(20, at(17));
    EXPECT_EQ(11, at(27)); // key
    EXPECT_EQ(1, at(31));  // port
    EXPECT_EQ(0x07, at(32));
    EXPECT_EQ(2, at(36)); // partner
    EXPECT_EQ(20, at(37));
    EXPECT_EQ(7, at(47));
    EXPECT_EQ(3, at(56)); // collector
    EXPECT_EQ(16, at(57));
    EXPECT_EQ(0, at(72)); // terminator
    EXPECT_EQ(0, at(73));
}

TEST(LacpFrames, of_every_shorter_length_are_illegal) {
    const auto frame = sample();
    for (std::size_t length = 0; length < frame.size(); ++length)
        EXPECT_EQ(Received(Unusable::illegal), parse_frame(std::span(frame).first(length))) << length;
}

TEST(LacpFrames, may_be_longer) {
    auto frame = sample();
    frame.resize(1500, std::byte{0xff}); // version 2 has more TLVs
    EXPECT_TRUE(std::holds_alternative<Lacpdu>(parse_frame(frame)));
}

TEST(LacpFrames, of_later_versions_are_read_like_version_1) {
    auto frame = sample();
    set(frame, 15, 2);
    set(frame, 33, 0xff); // reserved
    set(frame, 80, 0xff);
    const auto read = parse_frame(frame);
    ASSERT_TRUE(std::holds_alternative<Lacpdu>(read));
    EXPECT_EQ(own_info(), std::get<Lacpdu>(read).actor);
    EXPECT_EQ(2, std::get<Lacpdu>(read).version);
}

TEST(LacpFrames, with_a_wrong_length_of_a_tlv_are_illegal) {
    for (const std::size_t at : {17U, 37U, 57U}) {
        auto frame = sample();
        set(frame, at, 19);
        EXPECT_EQ(Received(Unusable::illegal), parse_frame(frame)) << at;
    }
}

TEST(LacpFrames, to_another_address_are_illegal) {
    auto frame = sample();
    set(frame, 5, 0x03);
    EXPECT_EQ(Received(Unusable::illegal), parse_frame(frame));
}

TEST(LacpFrames, of_other_slow_protocols_are_unknown) {
    auto frame = sample();
    set(frame, 14, 3); // OAM
    EXPECT_EQ(Received(Unusable::unknown), parse_frame(frame));
}

} // namespace
} // namespace teamo::lacp
