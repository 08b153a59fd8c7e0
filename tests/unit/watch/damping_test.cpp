// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/damping_state.h"

#include <gmock/gmock.h>

namespace teamo {
namespace {

using namespace std::chrono_literals;
using testing::Optional;
using Change = Damping::Change;

const Clock::time_point first_loss = Clock::time_point{} + 1h;

/// Loses its link so many times at this interval; the time of the last loss.
Clock::time_point flap(Damping& damping, int times, Clock::duration interval,
                       Clock::time_point from = first_loss) {
    auto now = from;
    for (int count = 0; count < times; ++count) {
        if (count > 0) now += interval;
        damping.note_loss(now);
        damping.step(now);
    }
    return now;
}

TEST(Damping, suppresses_a_port_at_its_third_loss_in_a_short_time) {
    Damping damping({});
    damping.note_loss(first_loss);
    EXPECT_EQ(damping.step(first_loss), Change::none);
    damping.note_loss(first_loss + 1s);
    EXPECT_EQ(damping.step(first_loss + 1s), Change::none);
    EXPECT_EQ(damping.deadline(), std::nullopt);
    damping.note_loss(first_loss + 2s);
    EXPECT_EQ(damping.step(first_loss + 2s), Change::suppressed);
    EXPECT_TRUE(damping.is_suppressed());
    EXPECT_EQ(damping.step(first_loss + 3s), Change::none) << "it is said once";
}

TEST(Damping, has_a_penalty_that_decays_within_the_longest_time) {
    Damping damping(
        {.penalty = 1'000'000, .suppress = 2000, .reuse = 1000, .half_life = 60s, .max_suppress = 300s});
    const auto last = flap(damping, 10'000, 1ms);
    EXPECT_EQ(damping.status(last).penalty, 32'000U); // 1000, doubled once for each half-life of the 300 s
    EXPECT_EQ(damping.deadline(), last + 300s);
}

TEST(Damping, ends_when_the_penalty_has_fallen_to_reuse) {
    Damping damping({.half_life = 10s});
    const auto last = flap(damping, 3, 0s); // 3000: 1.585 half-lives above 1000
    ASSERT_TRUE(damping.is_suppressed());
    EXPECT_EQ(damping.status(last),
              (DampingStatus{.penalty = 3000, .suppressed = true, .until_reuse = 15850ms}));
    EXPECT_EQ(damping.status(last + 10s).penalty, 1500U);
    EXPECT_EQ(damping.step(last + 15'849ms), Change::none);
    EXPECT_EQ(damping.step(*damping.deadline()), Change::reused);
    EXPECT_FALSE(damping.is_suppressed());
    EXPECT_EQ(damping.deadline(), std::nullopt);
    EXPECT_EQ(damping.status(last + 16s).until_reuse, std::nullopt);
    EXPECT_NEAR(15.85, std::chrono::duration<double>(damping.suppressed_for(last + 20s)).count(), 0.01);
}

TEST(Damping, keeps_a_port_out_longer_with_each_loss) {
    Damping damping({});
    auto now = flap(damping, 3, 1s);
    auto end = *damping.deadline();
    for (int count = 0; count < 10; ++count) {
        now += 1s;
        damping.note_loss(now);
        EXPECT_GT(*damping.deadline() - now, end - now + 1s);
        end = *damping.deadline();
    }
}

TEST(Damping, ends_after_the_longest_time_however_high_the_penalty) {
    Damping damping({});
    const auto last = flap(damping, 3'600, 1s);
    EXPECT_THAT(damping.deadline(), Optional(last + 300s));
    EXPECT_EQ(damping.step(last + 299s), Change::none);
    EXPECT_EQ(damping.step(last + 300s), Change::reused);
    EXPECT_EQ(damping.status(last + 300s).penalty, 1000U) << "what is above reuse is forgiven";
    damping.note_loss(last + 301s);
    EXPECT_EQ(damping.step(last + 301s), Change::none);
}

TEST(Damping, tolerates_rare_losses) {
    Damping damping({});
    flap(damping, 1'000, 90s);
    EXPECT_FALSE(damping.is_suppressed());
    EXPECT_LT(damping.status(first_loss + 90'000s).penalty, 1600U);
}

TEST(Damping, is_continued_by_another_daemon) {
    Damping before({});
    const auto last = flap(before, 4, 1s);
    ASSERT_TRUE(before.is_suppressed());
    Damping after({}, before.memory());
    EXPECT_TRUE(after.is_suppressed());
    EXPECT_EQ(after.step(last + 1s), Change::none) << "the earlier one has said it";
    EXPECT_EQ(after.status(last + 20s).penalty, before.status(last + 20s).penalty);
    EXPECT_LT(*after.deadline() - *before.deadline(), 100ms);
    EXPECT_LT(*before.deadline() - *after.deadline(), 100ms);
    EXPECT_EQ(after.memory(), before.memory());
    EXPECT_FALSE(Damping({}, Damping({}).memory()).is_suppressed());
}

TEST(Damping, keeps_its_penalty_with_other_settings) {
    Damping damping({});
    const auto last = flap(damping, 3, 1s);
    ASSERT_TRUE(damping.is_suppressed());
    damping.change({.half_life = 1s});
    EXPECT_LT(*damping.deadline(), last + 2s);
    EXPECT_EQ(damping.step(last + 2s), Change::reused);
}

} // namespace
} // namespace teamo
