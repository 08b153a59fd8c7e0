// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/doctor/rounds.h"

#include <gmock/gmock.h>

namespace teamo::ctl {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

RoundPair pair(double cpu_without, double cpu_with, double bytes_without = 1e8, double bytes_with = 1e8) {
    return {.with = {.bytes = bytes_with, .cpu_per_kib = cpu_with},
            .without = {.bytes = bytes_without, .cpu_per_kib = cpu_without}};
}

TEST(Rounds, count_payload_without_headers) {
    // Ten segments on the wire, or one GSO packet: 10 * 1448 bytes either way.
    const PortCounters none, wire{.tx_packets = 10, .tx_bytes = 15140},
        whole{.tx_packets = 1, .tx_bytes = 14546};
    EXPECT_EQ(payload_between(none, wire), 14480);
    EXPECT_EQ(payload_between(none, whole), 14480);
    EXPECT_EQ(payload_between(whole, none), 0);
}

TEST(Rounds, count_time_that_is_not_idle) {
    const auto tick = std::chrono::duration_cast<Clock::duration>(1s) / ticks_per_second();
    // Two CPUs for 50 ticks: 30 and 50 ticks idle. No timer tick saw the others.
    const CpuReading before{.cpus = {{0, {.idle = 100}}, {1, {.idle = 7}}}},
        after{.at = before.at + 50 * tick, .cpus = {{0, {.idle = 130}}, {1, {.idle = 57}}}};
    const auto round = round_of(2048, before, after);
    const double seconds = 1.0 / static_cast<double>(ticks_per_second());
    EXPECT_NEAR(round.bytes, 2048 / (50 * seconds), 1e-6);
    EXPECT_NEAR(round.cpu_per_kib, 20 * seconds * 1e6 / 2, 1e-6);
    EXPECT_EQ(round_of(2048, before, before), Round{.cpu_per_kib = 0});
}

TEST(BenchmarkResults, show_a_gain_in_cpu_time) {
    const auto result =
        evaluate({pair(2, 1.6), pair(2.1, 1.7), pair(1.9, 1.5), pair(2, 1.8), pair(2.2, 1.7)});
    EXPECT_EQ(BenchmarkEffect::gain, result.effect);
    EXPECT_EQ(1700U, result.cpu_with);
    EXPECT_EQ(2000U, result.cpu_without);
    EXPECT_EQ("interrupts: 1.70 µs of CPU time per KiB with it, 2.00 without (-15.0 %); 800 Mbit/s with it, "
              "800 Mbit/s without (+0.0 %): a gain",
              text_of("interrupts", result));
}

TEST(BenchmarkResults, show_no_difference) {
    EXPECT_EQ(BenchmarkEffect::none,
              evaluate({pair(2, 2.01), pair(2, 1.99), pair(2, 2), pair(2, 2.02), pair(2, 1.98)}).effect);
}

TEST(BenchmarkResults, show_a_loss) {
    EXPECT_EQ(BenchmarkEffect::loss,
              evaluate({pair(2, 2.5), pair(2, 2.4), pair(2, 2.6), pair(2, 2.5), pair(2, 2.3)}).effect);
    EXPECT_EQ(BenchmarkEffect::loss, evaluate(std::vector(5, pair(2, 2, 1e8, 8e7))).effect);
}

TEST(BenchmarkResults, are_unclear_if_rounds_contradict_each_other) {
    EXPECT_EQ(BenchmarkEffect::unclear,
              evaluate({pair(2, 1), pair(2, 1.5), pair(2, 1.2), pair(2, 3), pair(2, 3)}).effect);
    EXPECT_EQ(BenchmarkEffect::unclear, evaluate(std::vector(5, pair(2, 1, 1e8, 5e7))).effect);
}

TEST(BenchmarkResults, ignore_one_outlier_of_five) {
    EXPECT_EQ(BenchmarkEffect::gain,
              evaluate({pair(2, 1.6), pair(2, 2.6), pair(2, 1.5), pair(2, 1.6), pair(2, 1.7)}).effect);
}

TEST(BenchmarkResults, need_traffic) {
    EXPECT_EQ(BenchmarkEffect::unclear, evaluate(std::vector(5, pair(2, 1, 1000, 1000))).effect);
    EXPECT_THAT(text_of("workers", evaluate({})), HasSubstr("too little traffic"));
}

} // namespace
} // namespace teamo::ctl
