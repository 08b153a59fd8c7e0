// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/packet/packet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace teamo::ctl {
namespace {

using enum HashField;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Result<Packet> parse(const std::string& line) {
    std::istringstream words(line);
    std::vector<std::string> list;
    for (std::string word; words >> word;)
        list.push_back(word);
    return parse_packet(list);
}

Packet packet(const std::string& line) {
    auto parsed = parse(line);
    EXPECT_TRUE(parsed.has_value()) << line << ": " << parsed.error().text;
    return parsed.value_or(Packet{});
}

TEST(Packets, are_read_in_any_order) {
    Packet expected;
    expected.src = parse_ip("10.0.0.1");
    expected.dst = parse_ip("10.0.0.2");
    expected.protocol = 6;
    expected.sport = 40000;
    expected.dport = 80;
    expected.smac = parse_mac_address("52:54:00:00:00:01");
    expected.dmac = parse_mac_address("52:54:00:00:00:02");
    expected.vlans = {7, 8};
    for (const auto* line :
         {"src 10.0.0.1 dst 10.0.0.2 tcp sport 40000 dport 80 smac 52:54:00:00:00:01 dmac 52:54:00:00:00:02 "
          "vlan 7 vlan 8",
          "vlan 7 dport 80 proto tcp sport 40000 dmac 52:54:0:0:0:2 vlan 8 smac 52:54:00:00:00:01 dst "
          "10.0.0.2 src 10.0.0.1",
          "vlan 7 dport 80 proto 6 sport 40000 dmac 52:54:0:0:0:2 vlan 8 smac 52:54:00:00:00:01 dst "
          "10.0.0.2 src 10.0.0.1"})
        EXPECT_EQ(packet(line), expected) << line;
}

TEST(Packets, have_a_protocol_by_its_name_alone) {
    for (const auto& [name, number] :
         {std::pair("tcp", 6), {"icmp", 1}, {"icmp6", 58}, {"gre", 47}, {"esp", 50}})
        EXPECT_EQ(packet(std::string("src 10.0.0.1 dst 10.0.0.2 ") + name).protocol, number) << name;
}

TEST(Packets, report_the_invalid_part) {
    const std::pair<const char*, const char*> cases[]{
        {"src", "\"src\" needs a value"},
        {"colour red", "\"colour\" is not a part of a packet"},
        {"colour", "\"colour\" is not a part of a packet"},
        {"src 10.0.0.300", "src \"10.0.0.300\" is not a valid IP address"},
        {"src 10.0.0.0/24", "is not a valid IP address"},
        {"src 10.0.0.1 src 10.0.0.2", "\"src\" is given twice"},
        {"src 10.0.0.1 dst fd00::1", "different IP versions"},
        {"tcp udp", "the protocol is given twice"},
        {"proto carrots", "is not an IP protocol"},
        {"proto 256", "is not an IP protocol"},
        {"sport 80", "need tcp, udp or sctp"},
        {"proto icmp dport 80", "need tcp, udp or sctp"},
        {"tcp sport 65536", "is not a valid port"},
        {"tcp sport -1", "is not a valid port"},
        {"vlan 0", "is not a VLAN ID"},
        {"vlan 4095", "is not a VLAN ID"},
        {"vlan 1 vlan 2 vlan 3", "more than two"},
        {"smac 52:54", "is not a valid MAC address"},
    };
    for (const auto& [line, text] : cases) {
        const auto parsed = parse(line);
        ASSERT_FALSE(parsed.has_value()) << line;
        EXPECT_THAT(parsed.error().text, HasSubstr(text)) << line;
    }
}

TEST(Packets, need_only_the_hashed_parts) {
    const auto tcp = packet("src 10.0.0.1 dst 10.0.0.2 tcp");
    EXPECT_THAT(missing_parts(tcp, ipv4 | ipv6), IsEmpty());
    EXPECT_THAT(missing_parts(tcp, ipv4 | HashField::tcp), ElementsAre("sport", "dport"));
    EXPECT_THAT(missing_parts(tcp, eth | ipv4), ElementsAre("smac", "dmac"));
    EXPECT_THAT(missing_parts(tcp, ipv4 | HashField::udp), IsEmpty());
    EXPECT_THAT(missing_parts(packet("tcp sport 1 dport 2"), HashField::tcp | HashField::udp), IsEmpty());
    EXPECT_THAT(missing_parts(packet("tcp sport 1 dport 2"), ipv4 | HashField::tcp),
                ElementsAre("src", "dst"));
    EXPECT_THAT(missing_parts(packet("dst fd00::1"), ipv4 | ipv6), ElementsAre("src"));
    EXPECT_THAT(missing_parts(packet("dst fd00::1"), eth | ipv4), ElementsAre("smac", "dmac"));
    EXPECT_THAT(missing_parts(packet("vlan 7"), vlan | ipv4), IsEmpty());
}

// The numbers are the constants of flow_hash.h times the fields, summed by hand.
TEST(Packets, fall_into_the_bucket_of_their_fields) {
    EXPECT_EQ(bucket_of(packet("src 0.0.0.0 dst 0.0.0.1"), HashFields{} | ipv4), 0xd3);
    EXPECT_EQ(bucket_of(packet("src 0.0.0.1 dst 0.0.0.0"), HashFields{} | ipv4), 0xa3);
    EXPECT_EQ(bucket_of(packet("src :: dst ::1"), HashFields{} | ipv6), 0xd3);
    EXPECT_EQ(bucket_of(packet("src :: dst 0:1::"), HashFields{} | ipv6), 0x69);
    EXPECT_EQ(bucket_of(packet("tcp sport 1 dport 0"), HashFields{} | HashField::tcp), 0x92);
    EXPECT_EQ(bucket_of(packet("tcp sport 1 dport 0"), HashFields{} | HashField::udp), 0);
    EXPECT_EQ(bucket_of(packet("vlan 1"), HashFields{} | vlan), 0xb4);
    EXPECT_EQ(bucket_of(packet("smac 0:0:0:0:0:1 dmac 0:0:0:0:0:0"), HashFields{} | eth), 0x49);
    // 0x1002 * 0xb46c83f3, of which the top byte of 32 bits: the outer VID is the higher one.
    EXPECT_EQ(bucket_of(packet("vlan 1 vlan 2"), HashFields{} | vlan), (0x1002U * 0xb46c83f3U) >> 24);
}

} // namespace
} // namespace teamo::ctl
