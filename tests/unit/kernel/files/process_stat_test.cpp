// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/files/process_stat.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace teamo {
namespace {

constexpr auto stat_tail = " S 1 2 3 4 5 6 7 8 9 10 30 12 13 14 20 0 9 0 4711 18 19 20\n";

TEST(ProcessStat, has_the_name_the_time_the_threads_and_the_start) {
    EXPECT_EQ(parse_process_stat(std::string("42 (nginx)") + stat_tail),
              (ProcessStat{.command = "nginx", .ticks = 42, .threads = 9, .started = 4711}));
}

TEST(ProcessStat, has_whatever_name_a_process_gave_itself) {
    for (const auto* name : {"a b", "(sd-pam)", ") S 1 2", "", "x)\n(y"})
        EXPECT_EQ(parse_process_stat("1 (" + std::string(name) + ")" + stat_tail).value().command, name);
}

TEST(ProcessStat, is_none_where_it_is_cut_off_or_something_else) {
    const auto whole = std::string("42 (nginx)") + stat_tail;
    for (std::size_t size = 0; size < whole.find("4711"); ++size)
        EXPECT_EQ(parse_process_stat(whole.substr(0, size)), std::nullopt) << size;
    for (const auto* text : {")(", "1 )x( S 1", "1 (a)S 1 2"})
        EXPECT_EQ(parse_process_stat(text), std::nullopt) << text;
    EXPECT_EQ(parse_process_stat("1 (a) S 1 2 3 4 5 6 7 8 9 10 x 12 13 14 20 0 9 0 4711 18"), std::nullopt);
}

TEST(ProcessStat, can_be_read_here) {
    EXPECT_EQ(read_process_stat("/proc/self").value().command, "kernel_test");
    EXPECT_EQ(read_start_time("/proc/self"), read_start_time("/proc/thread-self"));
    EXPECT_EQ(read_start_time("/proc/0"), std::nullopt);
}

} // namespace
} // namespace teamo
