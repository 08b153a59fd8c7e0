// SPDX-License-Identifier: LGPL-2.1-or-later
#include "balance/drain_bound.h"

#include <gtest/gtest.h>

namespace teamo {
namespace {

using namespace std::chrono_literals;

constexpr DrainBound::Time start{};
constexpr std::uint32_t gigabit_speed = 1000;

QueueCounters queue(std::uint64_t backlog, std::uint64_t sent) {
    return {.backlog = backlog, .sent = sent, .dropped = 0};
}

TEST(DrainBound, is_the_longest_before_anything_is_known) {
    DrainBound bound;
    EXPECT_EQ(bound.step(queue(0, 0), gigabit_speed, start), 500ms);
}

TEST(DrainBound, of_an_empty_queue_is_the_rings_at_the_links_rate) {
    DrainBound bound;
    bound.step(queue(0, 0), gigabit_speed, start);
    const auto drain = bound.step(queue(0, 1000), gigabit_speed, start + 5ms);
    EXPECT_GT(drain, 3ms); // 2 ms, and 128 KiB at 125 MB/s
    EXPECT_LT(drain, 4ms);
}

TEST(DrainBound, of_a_queue_whose_rate_is_not_known_is_the_longest) {
    DrainBound bound;
    bound.step(queue(0, 0), gigabit_speed, start);
    EXPECT_EQ(bound.step(queue(100'000, 1000), gigabit_speed, start + 5ms), 500ms);
}

// A shaper at a tenth of the link's rate: 12.5 MB/s.
TEST(DrainBound, goes_by_the_rate_at_which_the_queue_is_emptied) {
    DrainBound bound;
    bound.step(queue(500'000, 0), gigabit_speed, start);
    bound.step(queue(500'000, 125'000), gigabit_speed, start + 10ms);
    const auto drain = bound.step(queue(500'000, 250'000), gigabit_speed, start + 20ms);
    EXPECT_GT(drain, 40ms + 10ms); // the queue alone takes 40 ms, the ring another 10
    EXPECT_LT(drain, 100ms);
}

// 2 MB/s in packets of 64 KiB: of the readings every 5 ms each sixth or seventh sees one leave.
TEST(DrainBound, is_long_enough_where_few_large_packets_leave) {
    constexpr std::uint64_t packet = 65'536, rate = 2'000'000, waiting = 8 * packet;
    DrainBound bound;
    for (auto at = 0ms; at < 2s; at += 5ms) {
        const auto left = at.count() * rate / 1000 / packet * packet;
        EXPECT_GE(bound.step(queue(waiting, left), gigabit_speed, start + at), 1000ms * waiting / rate)
            << at.count();
    }
}

TEST(DrainBound, remembers_a_long_queue_for_a_while) {
    DrainBound bound;
    bound.step(queue(500'000, 0), gigabit_speed, start);
    bound.step(queue(500'000, 125'000), gigabit_speed, start + 10ms);
    const auto full = bound.step(queue(500'000, 250'000), gigabit_speed, start + 20ms);
    const auto soon = bound.step(queue(0, 750'000), gigabit_speed, start + 60ms);
    const auto later = bound.step(queue(0, 750'000), gigabit_speed, start + 3s);
    EXPECT_GT(soon, full / 2);
    EXPECT_LT(later, 4ms);
}

TEST(DrainBound, takes_a_link_that_does_not_say_its_speed_for_a_slow_one) {
    DrainBound bound;
    bound.step(queue(0, 0), 0, start);
    EXPECT_GT(bound.step(queue(0, 0), 0, start + 5ms), 3ms);
}

TEST(DrainBound, is_never_longer_than_half_a_second) {
    DrainBound bound;
    bound.step(queue(1'000'000'000, 0), gigabit_speed, start);
    EXPECT_EQ(bound.step(queue(1'000'000'000, 10), gigabit_speed, start + 10ms), 500ms);
}

} // namespace
} // namespace teamo
