// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/watch_states.h"

#include <gmock/gmock.h>

namespace teamo {
namespace {

using namespace std::chrono_literals;
using testing::Optional;

const Clock::time_point zero{};

/// Steps at each deadline until then. `answers`: tells whether the probe of a time is answered.
template <class Answers>
int run(PingState& ping, Clock::time_point& now, Clock::time_point until, Answers answers) {
    int probes = 0;
    ping.step(true, now);
    for (;;) {
        if (ping.take_due()) {
            ++probes;
            if (answers(now)) ping.note_answer();
        }
        const auto deadline = ping.deadline();
        if (!deadline || *deadline > until) break;
        now = std::max(now, *deadline);
        ping.step(true, now);
    }
    now = until;
    return probes;
}
const auto always = [](auto) { return true; };
const auto never = [](auto) { return false; };

TEST(PingState, goes_up_with_the_first_answer) {
    PingState ping({}, false);
    ping.step(true, zero);
    EXPECT_TRUE(ping.take_due());
    EXPECT_FALSE(ping.up());
    ping.note_answer();
    EXPECT_TRUE(ping.up());
    EXPECT_FALSE(ping.take_due());
}

TEST(PingState, sends_a_probe_in_each_interval) {
    PingState ping({.interval = 200ms}, false);
    auto now = zero;
    EXPECT_EQ(run(ping, now, zero + 1999ms, always), 10);
    EXPECT_TRUE(ping.up());
    EXPECT_EQ(ping.missed(), 0U);
}

TEST(PingState, waits_before_the_first_probe) {
    PingState ping({.init_wait = 500ms}, false);
    ping.step(true, zero);
    EXPECT_FALSE(ping.take_due());
    ping.note_answer();
    EXPECT_FALSE(ping.up()) << "a frame before the first probe is no answer";
    EXPECT_THAT(ping.deadline(), Optional(zero + 500ms));
    ping.step(true, zero + 500ms);
    EXPECT_TRUE(ping.take_due());
}

TEST(PingState, does_not_wait_if_the_port_carries_already) {
    PingState ping({.init_wait = 10s}, true);
    ping.step(true, zero);
    EXPECT_TRUE(ping.up());
    EXPECT_TRUE(ping.take_due());
}

TEST(PingState, goes_down_within_interval_times_missed_max_plus_one) {
    for (const std::uint32_t most : {1U, 2U, 3U, 10U})
        for (const auto died : {1ms, 400ms, 999ms}) { // after an answer at time 0
            PingState ping({.missed_max = most}, false);
            auto now = zero;
            int down_after = -1;
            run(ping, now, zero + died, always);
            for (auto time = zero + died; ping.up(); time += 1ms) {
                run(ping, now, time, never);
                down_after = static_cast<int>((time - zero - died) / 1ms);
            }
            EXPECT_LE(down_after, static_cast<int>(1000 * (most + 1))) << most << ", " << died.count();
            EXPECT_GT(down_after, static_cast<int>(400 * most)) << most << ", " << died.count();
            EXPECT_EQ(ping.missed(), most + 1);
            EXPECT_EQ(ping.down_count(), 1U);
        }
}

TEST(PingState, survives_missing_answers_that_are_not_too_many) {
    PingState ping({.missed_max = 3}, false);
    auto now = zero;
    int probes = 0;
    run(ping, now, zero + 60s, [&](auto) { return ++probes % 4 == 0 || probes < 2; });
    EXPECT_TRUE(ping.up());
    EXPECT_EQ(ping.down_count(), 0U);
}

TEST(PingState, recovers_when_the_target_comes_late) {
    PingState ping({}, false);
    auto now = zero;
    EXPECT_EQ(run(ping, now, zero + 3600s, never), 3601);
    EXPECT_FALSE(ping.up());
    EXPECT_EQ(ping.down_count(), 0U);
    run(ping, now, zero + 3602s, always);
    EXPECT_TRUE(ping.up());
}

TEST(PingState, goes_down_with_the_link_and_asks_again_when_it_returns) {
    PingState ping({.init_wait = 5s}, true);
    ping.step(true, zero);
    ping.step(false, zero + 10ms);
    EXPECT_FALSE(ping.up());
    EXPECT_EQ(ping.down_count(), 1U);
    EXPECT_EQ(ping.deadline(), std::nullopt);
    ping.note_answer();
    EXPECT_FALSE(ping.up());
    ping.step(true, zero + 20ms);
    EXPECT_TRUE(ping.take_due());
}

TEST(PingState, only_listens_while_it_does_not_send) {
    PingState ping({.missed_max = 1}, true);
    ping.step(true, zero);
    ping.note_role({.passes = true, .sends = false}, zero);
    auto now = zero;
    EXPECT_FALSE(ping.take_due());
    EXPECT_EQ(run(ping, now, zero + 1s, never), 0);
    ping.note_answer();
    EXPECT_EQ(run(ping, now, zero + 2s, never), 0);
    EXPECT_TRUE(ping.up());
    EXPECT_EQ(run(ping, now, zero + 10s, never), 0);
    EXPECT_FALSE(ping.up());
}

TEST(PingState, sends_at_once_when_it_may) {
    PingState ping({}, true);
    ping.step(true, zero);
    ping.note_role({.passes = true, .sends = false}, zero);
    EXPECT_FALSE(ping.take_due()) << "the switch would learn the team's address at a backup port";
    ping.note_role({.passes = true, .sends = true}, zero + 300ms);
    EXPECT_TRUE(ping.take_due());
}

TEST(PingState, is_not_judged_while_the_partner_passes_nothing) {
    PingState ping({.missed_max = 0}, true);
    ping.step(true, zero);
    ping.note_role({.passes = false, .sends = true}, zero);
    auto now = zero;
    EXPECT_EQ(run(ping, now, zero + 3600s, never), 0);
    EXPECT_TRUE(ping.up());
    ping.note_role({.passes = true, .sends = true}, now);
    EXPECT_TRUE(ping.take_due());
}

TEST(PingState, is_not_brought_back_by_answers_while_the_partner_passes_nothing) {
    PingState ping({.interval = 100ms, .missed_max = 0}, true);
    auto now = zero;
    run(ping, now, zero + 1s, never);
    ping.note_role({.passes = false, .sends = true}, now);
    ping.note_answer();
    ping.step(true, now);
    EXPECT_FALSE(ping.up());
}

TEST(PingState, misses_nothing_while_its_target_is_not_known) {
    PingState ping({.interval = 1s, .missed_max = 0}, true);
    auto now = zero;
    ping.step(true, now);
    for (int tries = 0; tries < 50; ++tries) {
        ASSERT_TRUE(ping.take_due());
        ping.note_unsent(now);
        ASSERT_THAT(ping.deadline(), Optional(now + 200ms));
        now += 200ms;
        ping.step(true, now);
    }
    EXPECT_TRUE(ping.up());
    run(ping, now, now + 3s, never);
    EXPECT_FALSE(ping.up());
}

TEST(PingState, begins_to_count_again_with_a_new_link) {
    PingState ping({.interval = 1s, .missed_max = 3}, false, Trust::yes);
    auto now = zero;
    run(ping, now, zero + 10s, never);
    ASSERT_FALSE(ping.up());
    ping.step(false, now);
    run(ping, now, now + 1s, never);
    EXPECT_TRUE(ping.up()) << "one missing answer is not too many";
}

TEST(PingState, is_up_with_its_link_if_it_is_trusted) {
    PingState ping({.init_wait = 5s}, false, Trust::yes);
    ping.note_role({.passes = false, .sends = true}, zero);
    EXPECT_FALSE(ping.up());
    ping.step(true, zero);
    EXPECT_TRUE(ping.up());
    ping.step(false, zero + 1s);
    EXPECT_FALSE(ping.up());
    ping.step(true, zero + 2s);
    EXPECT_TRUE(ping.up());
}

TEST(PingState, is_trusted_from_the_next_link_on_if_answers_were_missing) {
    PingState ping({}, false, Trust::next_link);
    ping.note_role({.passes = false, .sends = true}, zero);
    ping.step(true, zero);
    EXPECT_FALSE(ping.up());
    ping.step(false, zero + 1s);
    ping.step(true, zero + 2s);
    EXPECT_TRUE(ping.up());
}

TEST(PingState, is_tried_again_with_growing_patience) {
    PingState ping({.interval = 100ms, .missed_max = 0}, true);
    auto now = zero;
    for (const auto wait : {10s, 20s, 40s, 80s, 160s, 300s, 300s}) {
        ping.note_role({.passes = true, .sends = true}, now);
        run(ping, now, now + 1s, never);
        ASSERT_FALSE(ping.up());
        ping.note_role({.passes = false, .sends = true}, now); // LACP has taken it out
        ASSERT_THAT(ping.deadline(), Optional(now + wait));
        now += wait;
        ping.step(true, now);
        ASSERT_TRUE(ping.up());
    }
    ping.note_role({.passes = true, .sends = true}, now);
    run(ping, now, now + 1s, always);
    run(ping, now, now + 1s, never);
    ping.note_role({.passes = false, .sends = true}, now);
    EXPECT_THAT(ping.deadline(), Optional(now + 10s)) << "after an answer the patience is short again";
}

TEST(PingState, counts_one_missing_answer_after_a_long_sleep) {
    PingState ping({.missed_max = 3}, true);
    auto now = zero;
    run(ping, now, zero + 1s, always);
    ping.step(true, zero + 3600s);
    EXPECT_TRUE(ping.up());
    EXPECT_LE(ping.missed(), 1U);
}

} // namespace
} // namespace teamo
