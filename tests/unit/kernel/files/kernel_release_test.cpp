// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/files/kernel_release.h"

#include <gtest/gtest.h>

namespace teamo {
namespace {

TEST(KernelRelease, is_compared_by_its_numbers) {
    for (const auto* release : {"6.2.0", "6.12.48+deb13-amd64", "7.0.1", "6.2-rc1", "10.0"})
        EXPECT_TRUE(is_at_least(release, 6, 2)) << release;
    for (const auto* release : {"6.1.0-32-amd64", "5.15.0", "4.18.0-553.el8", "", "linux"})
        EXPECT_FALSE(is_at_least(release, 6, 2)) << release;
}

} // namespace
} // namespace teamo
