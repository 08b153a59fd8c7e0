// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/doctor/repeated_frames.h"

#include <gmock/gmock.h>

namespace teamo::ctl {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::chrono_literals;

constexpr MacAddress own{{2, 0, 0, 0, 0, 1}}, other{{2, 0, 0, 0, 0, 2}};
constexpr IfIndex eth1{11}, eth2{12}, eth3{13};

GroupFrame frame(IfIndex port, std::string bytes, std::chrono::nanoseconds at, MacAddress source = other) {
    return {.port = port, .source = source, .bytes = std::move(bytes), .at = at};
}

TEST(RepeatedFrames, arrive_by_two_ports_at_the_same_time) {
    const std::vector frames{frame(eth1, "a", 1s),       frame(eth1, "b", 2s), frame(eth2, "a", 1s + 3ms),
                             frame(eth3, "a", 1s + 4ms), frame(eth1, "c", 3s), frame(eth3, "c", 3s)};
    const auto found = repeated_frames(frames, own);
    EXPECT_EQ(3, found.different);
    EXPECT_EQ(2, found.duplicated);
    EXPECT_EQ(0, found.own);
    EXPECT_THAT(found.ports, ElementsAre(eth1, eth2, eth3));
}

TEST(RepeatedFrames, are_not_frames_that_a_sender_repeats) {
    const auto by_one = repeated_frames(std::vector{frame(eth1, "a", 1s), frame(eth1, "a", 1s + 1ms)}, own);
    EXPECT_EQ(0, by_one.duplicated);
    const auto later = repeated_frames(std::vector{frame(eth1, "a", 1s), frame(eth2, "a", 1s + 300ms)}, own);
    EXPECT_EQ(2, later.different);
    EXPECT_EQ(0, later.duplicated);
    EXPECT_THAT(later.ports, IsEmpty());
    EXPECT_EQ(RepeatedFrames{}, repeated_frames({}, own));
}

TEST(RepeatedFrames, include_own_frames_that_come_back) {
    const auto found = repeated_frames(std::vector{frame(eth2, "a", 1s, own), frame(eth1, "b", 1s)}, own);
    EXPECT_EQ(1, found.own);
    EXPECT_EQ(0, found.duplicated);
    EXPECT_THAT(found.ports, ElementsAre(eth2));
}

} // namespace
} // namespace teamo::ctl
