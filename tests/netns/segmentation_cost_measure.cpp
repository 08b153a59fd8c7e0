// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What cutting costs for which device, told apart: a figure, so the machine is its own.
#include "kernel/segmentation_cost.h"

#include "support/figure.h"
#include "support/process.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace teamo::test {
namespace {

/// The least of some, which other work on the machine has disturbed least.
SegmentationCost least_cost(const Segmentation& device) {
    SegmentationCost least;
    for (int number = 0; number < 5; ++number) {
        const auto cost = measure_segmentation(device);
        if (!cost) throw SetupError(cost.error().text);
        if (number == 0 || cost->cut < least.cut) least = *cost;
    }
    return least;
}

TEST(SegmentationCost, is_more_for_smaller_segments_and_for_what_is_summed_or_copied) {
    const auto usual = least_cost({}), jumbo = least_cost({.mtu = 9000});
    // Measured, in ns for a KiB: 50 whole; cut 274 at an MTU of 1500 and 74 at 9000, 99 summed, 120 copied.
    EXPECT_GT(usual.whole, 0);
    EXPECT_TRUE(at_least("cut over whole", usual.cut / usual.whole, {.promised = 3, .defect = 2}));
    EXPECT_TRUE(at_least("cutting at 1500 over at 9000",
                         (usual.cut - usual.whole) / std::max(jumbo.cut - jumbo.whole, 1e-3),
                         {.promised = 2, .defect = 1.5}));
    const auto summed = least_cost({.mtu = 9000, .checksum = false}).cut;
    EXPECT_TRUE(at_least("summed over jumbo", summed / jumbo.cut, {.promised = 1.12, .defect = 1.05}));
    const auto copied = least_cost({.mtu = 9000, .scatter_gather = false}).cut;
    EXPECT_TRUE(at_least("copied over jumbo", copied / jumbo.cut, {.promised = 1.2, .defect = 1.1}));
    EXPECT_GT(least_cost({.mtu = 65535}).cut, 0);
}

} // namespace
} // namespace teamo::test
