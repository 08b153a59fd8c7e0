// SPDX-License-Identifier: LGPL-2.1-or-later
#include "balance/meters.h"

#include <gmock/gmock.h>

namespace teamo {
namespace {

using namespace std::chrono_literals;
using ::testing::DoubleNear;
using ::testing::Each;

AllBucketCounters counted(std::uint64_t bytes, std::uint64_t packets = 0, std::uint64_t gso_bytes = 0) {
    AllBucketCounters counters{};
    counters[7] = {.bytes = bytes, .packets = packets, .gso_bytes = gso_bytes};
    return counters;
}

constexpr LoadMeter::Time meter_start{1000s};

TEST(LoadMeter, reports_nothing_after_first_reading) {
    LoadMeter meter(5s);
    EXPECT_THAT(meter.step(counted(1'000'000, 10, 500), meter_start), Each(BucketLoad{}));
}

TEST(LoadMeter, reports_first_difference_unsmoothed) {
    LoadMeter meter(5s);
    meter.step(counted(1000, 10, 500), meter_start);
    const auto loads = meter.step(counted(5000, 30, 2500), meter_start + 2s);
    EXPECT_EQ(loads[7], (BucketLoad{.bytes = 2000, .packets = 10, .bulk = 1000}));
    EXPECT_EQ(loads[8], BucketLoad{});
}

TEST(LoadMeter, reaches_63_percent_after_time_constant) {
    LoadMeter meter(5s);
    meter.step(counted(0), meter_start);
    meter.step(counted(0), meter_start + 5s);
    EXPECT_THAT(meter.step(counted(5000), meter_start + 10s)[7].bytes, DoubleNear(632.1, 0.1));
}

TEST(LoadMeter, smooths_independently_of_sampling_interval) {
    LoadMeter rarely(5s), often(5s);
    for (auto* meter : {&rarely, &often}) {
        meter->step(counted(0), meter_start);
        meter->step(counted(1000), meter_start + 1s);
    }
    for (unsigned second = 2; second <= 10; ++second)
        often.step(counted(1000 + std::uint64_t{3000} * (second - 1)),
                   meter_start + std::chrono::seconds(second));
    rarely.step(counted(1000 + 3000 * 9), meter_start + 10s);
    const auto same = counted(1000 + 3000 * 9);
    EXPECT_NEAR(often.step(same, meter_start + 11s)[7].bytes, rarely.step(same, meter_start + 11s)[7].bytes,
                1e-6);
}

TEST(LoadMeter, does_not_smooth_without_time_constant) {
    LoadMeter meter(0s);
    meter.step(counted(0), meter_start);
    meter.step(counted(9000), meter_start + 1s);
    EXPECT_EQ(meter.step(counted(10000), meter_start + 2s)[7].bytes, 1000);
}

TEST(LoadMeter, restarts_if_counters_go_back) {
    LoadMeter meter(5s);
    meter.step(counted(1000), meter_start);
    meter.step(counted(5000), meter_start + 1s);
    EXPECT_THAT(meter.step(counted(100), meter_start + 2s), Each(BucketLoad{}));
    EXPECT_EQ(meter.step(counted(300), meter_start + 3s)[7].bytes, 200);
}

TEST(LoadMeter, repeats_result_if_no_time_passed) {
    LoadMeter meter(5s);
    meter.step(counted(0), meter_start);
    const auto loads = meter.step(counted(4000), meter_start + 2s);
    EXPECT_EQ(meter.step(counted(9000), meter_start + 2s), loads);
    EXPECT_GT(meter.step(counted(9000), meter_start + 4s)[7].bytes, loads[7].bytes)
        << "they were counted later";
}

TEST(LoadMeter, decays_to_zero_without_traffic) {
    LoadMeter meter(5s);
    meter.step(counted(0), meter_start);
    meter.step(counted(1'000'000'000), meter_start + 1s);
    BucketLoads loads{};
    for (int step = 1; step <= 30; ++step)
        loads = meter.step(counted(1'000'000'000), meter_start + 1s + step * 5s);
    EXPECT_EQ(loads[7], BucketLoad{});
}

} // namespace
} // namespace teamo
