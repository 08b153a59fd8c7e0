// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/ip_address.h"

#include <gtest/gtest.h>

namespace teamo {
namespace {

using namespace std::string_view_literals;

TEST(IpAddress, reads_back_written_text) {
    for (const auto* text : {"10.0.0.1", "255.255.255.255", "fd00::1", "::", "2001:db8::ff00:42:8329"}) {
        const auto address = parse_ip(text);
        ASSERT_TRUE(address.has_value()) << text;
        EXPECT_EQ(text_of(*address), text);
    }
}

TEST(IpAddress, rejects_other_text) {
    for (const auto* text :
         {"", "10.0.0", "10.0.0.256", "10.0.0.0/8", "fd00::1%eth0", "fd00::1::2", "localhost", " 10.0.0.1"})
        EXPECT_EQ(parse_ip(text), std::nullopt) << text;
    EXPECT_EQ(parse_ip("10.0.0.1\0x"sv), std::nullopt);
    EXPECT_EQ(parse_ip("fd00::1\0x"sv), std::nullopt);
}

TEST(IpAddress, unmaps_ipv4_in_ipv6) {
    EXPECT_EQ(unmapped(*parse_ip("::ffff:10.0.0.1")), parse_ip("10.0.0.1"));
    EXPECT_EQ(unmapped(*parse_ip("fd00::1")), parse_ip("fd00::1"));
    EXPECT_EQ(unmapped(*parse_ip("10.0.0.1")), parse_ip("10.0.0.1"));
}

TEST(IpAddresses, are_link_local_in_fe80_10) {
    EXPECT_TRUE(parse_ip("fe80::1")->is_link_local());
    EXPECT_TRUE(parse_ip("febf::1")->is_link_local());
    for (const auto* text : {"fec0::1", "fd00::1", "254.128.0.1"})
        EXPECT_FALSE(parse_ip(text)->is_link_local()) << text;
}

TEST(Groups, have_hardware_addresses_of_their_own) {
    EXPECT_EQ(multicast_mac(*parse_ip("224.129.2.3")), parse_mac_address("01:00:5e:01:02:03"));
    EXPECT_EQ(multicast_mac(*parse_ip("239.1.2.3")), parse_mac_address("01:00:5e:01:02:03"));
    EXPECT_EQ(multicast_mac(*parse_ip("ff02::1:ff00:7")), parse_mac_address("33:33:ff:00:00:07"));
    EXPECT_EQ(multicast_mac(*parse_ip("10.0.0.1")), std::nullopt);
    EXPECT_EQ(multicast_mac(*parse_ip("fd00::1")), std::nullopt);
}

} // namespace
} // namespace teamo
