// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/mac_address.h"

#include <gmock/gmock.h>

namespace teamo {
namespace {

constexpr MacAddress address{{0x52, 0x54, 0x00, 0xaa, 0xbb, 0x0c}};

TEST(MacAddress, prints_like_ip) { EXPECT_EQ(text_of(address), "52:54:00:aa:bb:0c"); }

TEST(MacAddress, reads_every_form_of_teamd) {
    for (const auto* text : {"52:54:00:aa:bb:0c", "52:54:00:AA:BB:0C", "52:54:0:aa:bb:c",
                             " 52:54:00:aa:bb:0c ", "52 : 54:00:aa:bb: 0c"})
        EXPECT_EQ(parse_mac_address(text), address) << text;
}

TEST(MacAddress, rejects_other_text) {
    for (const auto* text : {"", ":", ":::::", "52:54:00:aa:bb", "52:54:00:aa:bb:0c:dd", "52:54:00:aa:bb:",
                             "52:54:00:aa:bb:0g", "52:54:00:aa:bb:00c", "52-54-00-aa-bb-0c", "525400aabb0c",
                             "52:54:00:aa:bb:-c", "52:54:00:aa:bb:+c", "52:54:00:aa:bb:0 c"})
        EXPECT_EQ(parse_mac_address(text), std::nullopt) << text;
}

TEST(MacAddress, recognises_zero_and_multicast) {
    EXPECT_TRUE(MacAddress{}.is_zero());
    EXPECT_FALSE(address.is_zero());
    EXPECT_FALSE(address.is_multicast());
    EXPECT_TRUE((MacAddress{{0x01, 0x80, 0xc2, 0, 0, 2}}.is_multicast()));
}

} // namespace
} // namespace teamo
