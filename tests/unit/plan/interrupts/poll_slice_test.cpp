// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/interrupts/poll_slice.h"

#include <gtest/gtest.h>

namespace teamo::test {
namespace {

TEST(PollSlice, has_all_ports_with_few_vectors) {
    const auto slice = slice_of({4, 0, 8, 4, 8, 8, 8, 8}, 0);
    EXPECT_EQ(slice.begin, 0U);
    EXPECT_EQ(slice.end, 8U);
}

TEST(PollSlice, goes_round_the_ports_with_many_vectors) {
    const std::vector<std::size_t> vectors{63, 63, 1, 200, 10, 10};
    std::size_t next = 0;
    std::vector<std::size_t> ends;
    for (int poll = 0; poll < 4; ++poll) {
        const auto slice = slice_of(vectors, next);
        EXPECT_EQ(slice.begin, next);
        next = slice.end == vectors.size() ? 0 : slice.end;
        ends.push_back(slice.end);
    }
    EXPECT_EQ(ends, (std::vector<std::size_t>{2, 4, 6, 2}));
}

TEST(PollSlice, begins_anew_if_ports_have_left) {
    EXPECT_EQ(slice_of({1, 1}, 5).begin, 0U);
    EXPECT_EQ(slice_of({1, 1}, 5).end, 2U);
    EXPECT_EQ(slice_of({}, 0).end, 0U);
}

} // namespace
} // namespace teamo::test
