// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/team/patience.h"

#include <gtest/gtest.h>

namespace teamo {
namespace {

using namespace std::chrono_literals;

TEST(Patience, doubles_wait_up_to_maximum) {
    const Patience::Time start{};
    Patience patience;
    EXPECT_TRUE(patience.is_over(start)) << "nothing was refused yet";
    auto now = start;
    for (const auto wait : {20ms, 40ms, 80ms, 160ms, 320ms, 640ms}) {
        patience.refused(now);
        EXPECT_EQ(patience.next() - now, wait);
        EXPECT_FALSE(patience.is_over(patience.next() - 1ns));
        EXPECT_TRUE(patience.is_over(now = patience.next()));
    }
    EXPECT_LT(now - start, 2s) << "six tries";
    for (int times = 0; times < 40; ++times)
        patience.refused(now);
    EXPECT_EQ(patience.next() - now, Patience::longest);
}

} // namespace
} // namespace teamo
