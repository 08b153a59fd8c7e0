// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/failures.h"

#include <gtest/gtest.h>

namespace teamo {
namespace {

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
