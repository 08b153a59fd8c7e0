// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/doctor/rounds.h"

#include <gmock/gmock.h>

namespace teamo::ctl {
namespace {

using namespace std::chrono_literals;

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

} // namespace
} // namespace teamo::ctl
