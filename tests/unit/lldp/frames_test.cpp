// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lldp/lldpdu.h"
#include "support/traffic/lldp_frames.h"

#include <gmock/gmock.h>

namespace teamo::lldp {
namespace {

using test::add_tlv;
using test::lldp_frame;
using test::lldp_header;

const std::string chassis_mac("\x04\x00\x11\x22\x33\x44\x55", 7), interface_name = "\5Ethernet12",
                                                                  two_minutes("\0\x78", 2);

FrameWriter mandatory(std::string_view chassis = chassis_mac, std::string_view port = interface_name,
                      std::string_view ttl = two_minutes) {
    auto frame = lldp_header();
    add_tlv(frame, 1, chassis);
    add_tlv(frame, 2, port);
    add_tlv(frame, 3, ttl);
    return frame;
}

TEST(LldpFrames, are_read_byte_by_byte) {
    auto frame = mandatory();
    add_tlv(frame, 4, "uplink");
    add_tlv(frame, 5, "leaf-7");
    add_tlv(frame, 127, std::string("\0\x12\x0f\1", 4));
    add_tlv(frame, 0, "");
    const auto pdu = parse_frame(frame.bytes());
    ASSERT_TRUE(pdu);
    EXPECT_EQ(pdu->group, 0U);
    EXPECT_EQ(pdu->ttl, std::chrono::seconds(120));
    EXPECT_EQ(pdu->system_name, "leaf-7");
    EXPECT_EQ(text_of_chassis(pdu->chassis), "00:11:22:33:44:55");
    EXPECT_EQ(text_of_port(pdu->port), "Ethernet12");
}

TEST(LldpFrames, need_no_end_and_ignore_what_follows_it) {
    EXPECT_TRUE(parse_frame(mandatory().bytes()));
    auto frame = mandatory();
    add_tlv(frame, 0, "");
    frame.raw(Bytes(30, std::byte{0xff})); // padding
    EXPECT_TRUE(parse_frame(frame.bytes()));
}

TEST(LldpFrames, are_read_from_each_group_and_from_no_other_address) {
    EXPECT_EQ(parse_frame(lldp_frame("a", "1", 9, "", 0x0e))->group, 0U);
    EXPECT_EQ(parse_frame(lldp_frame("a", "1", 9, "", 0x03))->group, 1U);
    EXPECT_EQ(parse_frame(lldp_frame("a", "1", 9, "", 0x00))->group, 2U);
    EXPECT_EQ(parse_frame(lldp_frame("a", "1", 9, "", 0x02)), std::nullopt);
    auto slow = lldp_frame("a", "1", 9);
    slow[13] = std::byte{0x09};
    EXPECT_EQ(parse_frame(slow), std::nullopt) << "another EtherType";
}

TEST(LldpFrames, are_discarded_when_cut_anywhere_but_between_optional_tlvs) {
    auto whole = mandatory();
    const auto least = whole.size();
    add_tlv(whole, 5, "leaf-7");
    for (std::size_t length = 0; length < whole.size(); ++length)
        EXPECT_EQ(parse_frame(whole.bytes().first(length)).has_value(), length == least) << length;
}

TEST(LldpFrames, are_discarded_without_the_three_tlvs_in_their_order) {
    auto frame = lldp_header();
    add_tlv(frame, 2, interface_name);
    add_tlv(frame, 1, chassis_mac);
    add_tlv(frame, 3, two_minutes);
    EXPECT_EQ(parse_frame(frame.bytes()), std::nullopt);
    for (const unsigned again : {1U, 2U, 3U}) {
        auto twice = mandatory();
        add_tlv(twice, again, "\4abc");
        EXPECT_EQ(parse_frame(twice.bytes()), std::nullopt) << again;
    }
}

TEST(LldpFrames, are_discarded_with_lengths_that_the_standard_excludes) {
    EXPECT_FALSE(parse_frame(mandatory("\4").bytes())) << "no ID";
    EXPECT_TRUE(parse_frame(mandatory("\7" + std::string(255, 'x')).bytes()));
    EXPECT_FALSE(parse_frame(mandatory("\7" + std::string(256, 'x')).bytes()));
    EXPECT_FALSE(parse_frame(mandatory(chassis_mac, "").bytes()));
    EXPECT_FALSE(parse_frame(mandatory(chassis_mac, interface_name, "x").bytes()));
}

TEST(LldpFrames, give_only_printable_text) {
    auto frame = mandatory("\7\x1b[31m", "\5Eth\n1");
    add_tlv(frame, 5, "leaf\x1b[2J\xff");
    const auto pdu = parse_frame(frame.bytes());
    ASSERT_TRUE(pdu);
    EXPECT_EQ(pdu->system_name, "leaf?[2J?");
    EXPECT_EQ(text_of_chassis(pdu->chassis), "0x1b5b33316d");
    EXPECT_EQ(text_of_port(pdu->port), "0x4574680a31");
}

TEST(LldpFrames, have_ids_of_several_kinds) {
    EXPECT_EQ(text_of_chassis({.subtype = 5, .bytes = std::string("\1\xc0\0\2\1", 5)}), "192.0.2.1");
    EXPECT_EQ(text_of_chassis({.subtype = 5, .bytes = std::string("\1\xc0\0\2", 4)}), "0x01c00002");
    EXPECT_EQ(text_of_port({.subtype = 4, .bytes = "\2" + std::string(15, '\0') + "\1"}), "::1");
    EXPECT_EQ(text_of_port({.subtype = 3, .bytes = std::string("\2\0\0\0\0\1", 6)}), "02:00:00:00:00:01");
    EXPECT_EQ(text_of_chassis({.subtype = 4, .bytes = "short"}), "0x73686f7274");
    EXPECT_EQ(text_of_chassis({.subtype = 7, .bytes = "rack 3"}), "rack 3");
}

} // namespace
} // namespace teamo::lldp
