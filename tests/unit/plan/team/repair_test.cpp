// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/team/repair.h"

#include <gtest/gtest.h>

#include <vector>

namespace teamo {
namespace {

using namespace std::chrono_literals;
using Act = Repair::Act;

const Repair::Time start{1000s};

TEST(Repair, does_nothing_if_all_is_right) {
    Repair repair;
    EXPECT_EQ(Act::nothing, repair.step(false, start));
    EXPECT_FALSE(repair.deadline());
}

TEST(Repair, repairs_at_once_several_times) {
    Repair repair;
    for (unsigned attempt = 0; attempt < Repair::at_once; ++attempt)
        EXPECT_EQ(Act::attempt, repair.step(true, start)) << attempt;
    EXPECT_EQ(Act::nothing, repair.step(true, start));
    EXPECT_EQ(start + 1s, repair.deadline());
}

/// Another program undoes every repair at once.
std::vector<std::chrono::seconds> repairs_in_conflict(Repair& repair, std::chrono::seconds how_long) {
    std::vector<std::chrono::seconds> at;
    for (auto second = 0s; second < how_long; ++second)
        while (repair.step(true, start + second) == Act::attempt)
            at.push_back(second);
    return at;
}

TEST(Repair, waits_longer_each_time_and_gives_up) {
    Repair repair;
    const auto at = repairs_in_conflict(repair, 1h);
    const std::vector<std::chrono::seconds> expected{0s, 0s, 0s, 0s,  0s,  0s,  0s,  0s,
                                                     1s, 3s, 7s, 15s, 31s, 63s, 127s};
    EXPECT_EQ(expected, at);
    EXPECT_EQ(Act::nothing, repair.step(true, start + 24h)) << "it has given up";
    EXPECT_FALSE(repair.deadline());
}

TEST(Repair, reports_once_that_it_gives_up) {
    Repair repair;
    unsigned gave_up = 0;
    for (auto second = 0s; second < 1h; ++second)
        if (repair.step(true, start + second) == Act::give_up) ++gave_up;
    EXPECT_EQ(1U, gave_up);
}

TEST(Repair, restarts_after_correction_by_other_program) {
    Repair repair;
    static_cast<void>(repairs_in_conflict(repair, 1h));
    EXPECT_EQ(Act::nothing, repair.step(false, start + 1h));
    EXPECT_EQ(Act::attempt, repair.step(true, start + 2h));
}

TEST(Repair, forgets_attempts_after_quiet_time) {
    Repair repair;
    for (unsigned attempt = 0; attempt < Repair::most - 1; ++attempt)
        EXPECT_EQ(Act::attempt, repair.step(true, start + attempt * 2min));
    const auto later = start + (Repair::most - 2) * 2min + Repair::peace;
    EXPECT_EQ(Act::nothing, repair.step(false, later));
    for (unsigned attempt = 0; attempt < Repair::at_once; ++attempt)
        EXPECT_EQ(Act::attempt, repair.step(true, later));
}

TEST(Patience, doubles_wait_up_to_maximum) {
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
