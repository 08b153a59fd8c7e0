// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/watch_states.h"

#include <gmock/gmock.h>

namespace teamo {
namespace {

using namespace std::chrono_literals;
using testing::Optional;
using enum LossState::Change;

const LossState::Evidence by_counters{}, by_flows{.by_flows = true, .lost = 20, .buckets = {7, 8}};
const std::optional<LossState::Evidence> nothing_wrong;
const std::optional<double> unknown;
const Clock::time_point birth{};

TEST(LossState, takes_a_port_out_and_tries_it_again_with_growing_patience) {
    LossState state({});
    auto now = birth;
    for (const auto wait : {30s, 60s, 120s, 240s, 480s, 960s, 1920s, 3600s, 3600s}) {
        ASSERT_EQ(state.step(by_counters, unknown, now), taken_out);
        EXPECT_TRUE(state.is_out());
        EXPECT_THAT(state.next_try(), Optional(now + wait));
        EXPECT_EQ(state.step(nothing_wrong, unknown, now + wait - 1s), none);
        now += wait;
        ASSERT_EQ(state.step(nothing_wrong, unknown, now), tried_again);
        EXPECT_FALSE(state.is_out());
        now += 3s;
    }
}

TEST(LossState, is_patient_again_after_a_long_good_time) {
    LossState state({});
    ASSERT_EQ(state.step(by_counters, unknown, birth), taken_out);
    ASSERT_EQ(state.step(nothing_wrong, unknown, birth + 30s), tried_again);
    ASSERT_EQ(state.step(nothing_wrong, unknown, birth + 151s), none);
    ASSERT_EQ(state.step(by_counters, unknown, birth + 152s), taken_out);
    EXPECT_THAT(state.next_try(), Optional(birth + 182s));
}

TEST(LossState, brings_an_innocent_port_back) {
    LossState state({});
    ASSERT_EQ(state.step(by_flows, unknown, birth), taken_out);
    EXPECT_THAT(state.suspects(), testing::ElementsAre(7, 8));
    EXPECT_EQ(state.step(nothing_wrong, 20, birth + 1s), none) << "too early to know";
    EXPECT_EQ(state.step(nothing_wrong, 9, birth + 2s), none) << "it is better now";
    EXPECT_EQ(state.step(nothing_wrong, 11, birth + 3s), excused);
    EXPECT_FALSE(state.is_out());
    EXPECT_EQ(state.step(by_flows, unknown, birth + 60s), none);
    EXPECT_EQ(state.step(by_counters, unknown, birth + 61s), taken_out) << "its own counters are evidence";
}

TEST(LossState, does_not_blame_flows_that_change_later) {
    LossState state({.retry = 60s});
    ASSERT_EQ(state.step(by_flows, unknown, birth), taken_out);
    EXPECT_EQ(state.step(nothing_wrong, 20, birth + 31s), none);
}

} // namespace
} // namespace teamo
