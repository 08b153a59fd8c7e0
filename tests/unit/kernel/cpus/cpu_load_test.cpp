// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/cpus/cpu_load.h"

#include <gmock/gmock.h>

namespace teamo {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(CpuTimes, reads_each_cpu) {
    const auto times = parse_cpu_times("cpu  11 22 33 44 55 66 77 88 99 110\n"
                                       "cpu0 1 2 3 40 5 6 7 8 9 10\n"
                                       "cpu12 100 0 10 1000 0 1 2 0 50 0 9999\n"
                                       "intr 5 6 7\nctxt 12\n");
    EXPECT_THAT(times, ElementsAre(Pair(0, CpuTimes{.work = 1 + 2 + 3 + 8, .interrupts = 13, .idle = 45}),
                                   Pair(12, CpuTimes{.work = 110, .interrupts = 3, .idle = 1000})));
}

TEST(CpuTimes, ignores_truncated_and_invalid_lines) {
    EXPECT_THAT(parse_cpu_times("cpu0 1 2 3 4 5 6 7\ncpux 1 2 3 4 5 6 7 8\ncpu1 1 2 x 4 5 6 7 8"), IsEmpty());
    EXPECT_THAT(parse_cpu_times(""), IsEmpty());
}

TEST(CpuTimes, reads_this_machine) {
    const auto times = read_cpu_times();
    ASSERT_TRUE(times);
    ASSERT_FALSE(times->empty());
    const auto& one = times->begin()->second;
    EXPECT_GT(one.work + one.idle, 0U);
}

TEST(CpuLoad, is_share_of_elapsed_time) {
    const CpuTimes earlier{.work = 100, .interrupts = 10, .idle = 1000};
    EXPECT_EQ(load_between(earlier, {.work = 150, .interrupts = 35, .idle = 1025}),
              (CpuLoad{.work = 0.5, .interrupts = 0.25}));
    EXPECT_EQ(load_between(earlier, earlier), CpuLoad{});
}

TEST(CpuLoad, ignores_counter_that_went_back) {
    EXPECT_EQ(load_between({.work = 100, .interrupts = 10, .idle = 1000},
                           {.work = 150, .interrupts = 10, .idle = 900}),
              (CpuLoad{.work = 1, .interrupts = 0}));
}

TEST(BusyTime, is_all_but_idling_and_waiting) {
    const auto* stat = "cpu  100 10 50 9999 8888 1 2 4 77 88\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
    EXPECT_EQ(parse_busy_time(stat, 100).value(), 1'670'000us);
    EXPECT_EQ(parse_busy_time(stat, 1000).value(), 167'000us);
    for (const auto* text : {"", "cpu", "cpu  1 2 3", "cpu0 1 2 3 4 5 6 7 8\n", "cpu  1 2 3 4 x 6 7 8\n"})
        EXPECT_FALSE(parse_busy_time(text, 100).has_value()) << text;
}

} // namespace
} // namespace teamo
