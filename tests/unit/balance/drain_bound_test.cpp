// SPDX-License-Identifier: LGPL-2.1-or-later
#include "balance/meters.h"

#include <gtest/gtest.h>

namespace teamo {
namespace {

using namespace std::chrono_literals;

constexpr DrainBound::Time start{};
constexpr std::uint32_t gigabit_speed = 1000;

QueueCounters queue(std::uint64_t backlog, std::uint64_t sent) {
    return {.backlog = backlog, .sent = sent, .dropped = 0};
}

TEST(DrainBound, starts_at_maximum) {
    DrainBound bound;
    EXPECT_EQ(bound.step(queue(0, 0), gigabit_speed, start), 500ms);
}

TEST(DrainBound, covers_device_ring_if_queue_is_empty) {
    DrainBound bound;
    bound.step(queue(0, 0), gigabit_speed, start);
    const auto drain = bound.step(queue(0, 1000), gigabit_speed, start + 5ms);
    EXPECT_GT(drain, 3ms); // 2 ms, and 128 KiB at 125 MB/s
    EXPECT_LT(drain, 4ms);
}

TEST(DrainBound, is_maximum_if_rate_is_unknown) {
    DrainBound bound;
    bound.step(queue(0, 0), gigabit_speed, start);
    EXPECT_EQ(bound.step(queue(100'000, 1000), gigabit_speed, start + 5ms), 500ms);
}

// A shaper at a tenth of the link's rate: 12.5 MB/s.
TEST(DrainBound, uses_measured_drain_rate) {
    DrainBound bound;
    bound.step(queue(500'000, 0), gigabit_speed, start);
    bound.step(queue(500'000, 125'000), gigabit_speed, start + 10ms);
    const auto drain = bound.step(queue(500'000, 250'000), gigabit_speed, start + 20ms);
    EXPECT_GT(drain, 40ms + 10ms); // the queue alone takes 40 ms, the ring another 10
    EXPECT_LT(drain, 100ms);
}

// 2 MB/s in packets of 64 KiB: a packet leaves in every sixth or seventh reading of 5 ms.
TEST(DrainBound, is_long_enough_for_few_large_packets) {
    constexpr std::uint64_t packet = 65'536, rate = 2'000'000, waiting = 8 * packet;
    DrainBound bound;
    for (auto at = 0ms; at < 2s; at += 5ms) {
        const auto left = at.count() * rate / 1000 / packet * packet;
        EXPECT_GE(bound.step(queue(waiting, left), gigabit_speed, start + at), 1000ms * waiting / rate)
            << at.count();
    }
}

TEST(DrainBound, knows_no_rate_across_two_queues) {
    DrainBound bound;
    bound.step(queue(500'000, 1'000'000), gigabit_speed, start);
    bound.step(queue(500'000, 1'125'000), gigabit_speed, start + 10ms);
    bound.step(queue(500'000, 0), gigabit_speed, start + 20ms); // replaced
    bound.step(queue(500'000, 125'000), gigabit_speed, start + 30ms);
    EXPECT_GT(bound.step(queue(500'000, 250'000), gigabit_speed, start + 40ms), 40ms + 10ms);
}

TEST(DrainBound, remembers_long_queue_for_some_time) {
    DrainBound bound;
    bound.step(queue(500'000, 0), gigabit_speed, start);
    bound.step(queue(500'000, 125'000), gigabit_speed, start + 10ms);
    const auto full = bound.step(queue(500'000, 250'000), gigabit_speed, start + 20ms);
    const auto soon = bound.step(queue(0, 750'000), gigabit_speed, start + 60ms);
    const auto later = bound.step(queue(0, 750'000), gigabit_speed, start + 3s);
    EXPECT_GT(soon, full / 2);
    EXPECT_LT(later, 4ms);
}

TEST(DrainBound, assumes_slow_link_if_speed_is_unknown) {
    DrainBound bound;
    bound.step(queue(0, 0), 0, start);
    EXPECT_GT(bound.step(queue(0, 0), 0, start + 5ms), 3ms);
}

TEST(DrainBound, is_at_most_500_ms) {
    DrainBound bound;
    bound.step(queue(1'000'000'000, 0), gigabit_speed, start);
    EXPECT_EQ(bound.step(queue(1'000'000'000, 10), gigabit_speed, start + 10ms), 500ms);
}

} // namespace
} // namespace teamo
