// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace teamo {
namespace {

Result<int> twice(Result<std::unique_ptr<int>> number) {
    const auto value = TEAMO_TRY(std::move(number));
    TEAMO_TRY(Result<void>());
    return 2 * *value;
}

TEST(Try, gives_the_value_or_returns_the_error) {
    EXPECT_EQ(twice(std::make_unique<int>(21)), 42);
    EXPECT_EQ(twice(fail(EINVAL, "no number")).error(), (Error{EINVAL, "no number"}));
}

} // namespace
} // namespace teamo
