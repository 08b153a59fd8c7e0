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
}

TEST(IpAddress, unmaps_ipv4_in_ipv6) {
    EXPECT_EQ(unmapped(*parse_ip("::ffff:10.0.0.1")), parse_ip("10.0.0.1"));
    EXPECT_EQ(unmapped(*parse_ip("fd00::1")), parse_ip("fd00::1"));
    EXPECT_EQ(unmapped(*parse_ip("10.0.0.1")), parse_ip("10.0.0.1"));
}

} // namespace
} // namespace teamo
