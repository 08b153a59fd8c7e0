// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/cpu_list.h"

#include <gmock/gmock.h>

namespace teamo {
namespace {

using testing::Optional;

TEST(CpuList, reads_kernel_format) {
    EXPECT_THAT(parse_cpu_list("0-3,6\n"), Optional(CpuList{0, 1, 2, 3, 6}));
    EXPECT_THAT(parse_cpu_list("7"), Optional(CpuList{7}));
    EXPECT_THAT(parse_cpu_list("2,0-2"), Optional(CpuList{0, 1, 2}));
    EXPECT_THAT(parse_cpu_list("\n"), Optional(CpuList{}));
    EXPECT_THAT(parse_cpu_list("8191"), Optional(CpuList{8191}));
}

TEST(CpuList, rejects_other_text) {
    for (const auto* text : {"x", "1-", "3-1", "1,,2", "1,", "-1", "1 2", "0-8192", "99999999999"})
        EXPECT_EQ(parse_cpu_list(text), std::nullopt) << text;
}

TEST(CpuList, writes_ranges) {
    EXPECT_EQ(text_of(CpuList{0, 1, 2, 6, 8, 9}), "0-2,6,8-9");
    EXPECT_EQ(text_of(CpuList{5}), "5");
    EXPECT_EQ(text_of(CpuList{}), "");
}

TEST(CpuList, is_bounded_however_often_a_cpu_is_named) {
    std::string text = "0-8191";
    for (int times = 0; times < 9'000; ++times)
        text += ",0-8191"; // 64 KiB of text
    const auto cpus = parse_cpu_list(text);
    ASSERT_TRUE(cpus);
    EXPECT_EQ(8192U, cpus->size());
    EXPECT_LE(cpus->capacity(), 16384U);
}

TEST(CpuMask, reads_kernel_format) {
    EXPECT_THAT(parse_cpu_mask("f5\n"), Optional(CpuList{0, 2, 4, 5, 6, 7}));
    EXPECT_THAT(parse_cpu_mask("00000003,80000000"), Optional(CpuList{31, 32, 33}));
    EXPECT_THAT(parse_cpu_mask("0"), Optional(CpuList{}));
    for (const auto* text : {"", "\n", "x", "1,", ",1", "123456789", "0x1", "-1", "1 2"})
        EXPECT_EQ(parse_cpu_mask(text), std::nullopt) << text;
    std::string large = "1";
    for (unsigned group = 0; group < 256; ++group)
        large += ",00000000";
    EXPECT_EQ(parse_cpu_mask(large), std::nullopt) << "CPU 8192";
    EXPECT_THAT(parse_cpu_mask(large.replace(0, 1, "0")), Optional(CpuList{}));
}

TEST(CpuMask, writes_groups_of_32_bits) {
    EXPECT_EQ(mask_of({0, 2, 4, 5, 6, 7}), "f5");
    EXPECT_EQ(mask_of({31, 32, 33}), "3,80000000");
    EXPECT_EQ(mask_of({64}), "1,00000000,00000000");
    EXPECT_EQ(mask_of({}), "0");
    EXPECT_THAT(parse_cpu_mask(mask_of({0, 40, 8191})), Optional(CpuList{0, 40, 8191}));
}

TEST(CpuList, unites_two_lists) { EXPECT_EQ(united({0, 5}, {1, 5}), (CpuList{0, 1, 5})); }

} // namespace
} // namespace teamo
