// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/failures.h"

#include <gtest/gtest.h>

namespace teamo {
namespace {

TEST(Failures, are_none_where_all_was_done_or_the_device_is_gone) {
    Failures failures;
    failures.add({});
    failures.add(fail(ENODEV, "no such device"));
    EXPECT_TRUE(failures.result());
    EXPECT_FALSE(failures.may_pass());
}

TEST(Failures, say_all_and_may_pass_where_one_may) {
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
