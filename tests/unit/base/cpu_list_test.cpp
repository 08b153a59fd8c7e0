// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/cpu_list.h"

#include <gmock/gmock.h>

namespace teamo {
namespace {

using testing::Optional;

TEST(ListOfCpus, is_read_as_the_kernel_writes_it) {
    EXPECT_THAT(parse_cpu_list("0-3,6\n"), Optional(CpuList{0, 1, 2, 3, 6}));
    EXPECT_THAT(parse_cpu_list("7"), Optional(CpuList{7}));
    EXPECT_THAT(parse_cpu_list("2,0-2"), Optional(CpuList{0, 1, 2}));
    EXPECT_THAT(parse_cpu_list("\n"), Optional(CpuList{}));
    EXPECT_THAT(parse_cpu_list("8191"), Optional(CpuList{8191}));
}

TEST(ListOfCpus, is_nothing_else) {
    for (const auto* text : {"x", "1-", "3-1", "1,,2", "1,", "-1", "1 2", "0-8192", "99999999999"})
        EXPECT_EQ(parse_cpu_list(text), std::nullopt) << text;
}

TEST(ListOfCpus, is_written_in_ranges) {
    EXPECT_EQ(text_of(CpuList{0, 1, 2, 6, 8, 9}), "0-2,6,8-9");
    EXPECT_EQ(text_of(CpuList{5}), "5");
    EXPECT_EQ(text_of(CpuList{}), "");
}

} // namespace
} // namespace teamo
