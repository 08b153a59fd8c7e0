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

TEST(Failures, ignores_success_and_missing_device) {
    Failures failures;
    failures.add({});
    failures.add(fail(ENODEV, "no such device"));
    EXPECT_TRUE(failures.result());
    EXPECT_FALSE(failures.may_pass());
}

TEST(Failures, joins_texts_and_keeps_passing_failure) {
    Failures failures;
    failures.add(fail(EINVAL, "one"));
    EXPECT_FALSE(failures.may_pass());
    failures.add(fail(EBUSY, "two"));
    failures.add(fail(EPERM, "three"));
    EXPECT_TRUE(failures.may_pass());
    EXPECT_EQ(failures.result().error(), (Error{EBUSY, "one; two; three"}));
}

} // namespace
} // namespace teamo
