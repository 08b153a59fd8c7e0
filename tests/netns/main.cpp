// SPDX-License-Identifier: LGPL-2.1-or-later
#include "support/net/world.h"

#include <gtest/gtest.h>

namespace {

class AWorldForEachCase : public testing::EmptyTestEventListener {
    void OnTestStart(const testing::TestInfo&) override { teamo::test::furnish_world(); }
};

} // namespace

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    if (!GTEST_FLAG_GET(list_tests)) teamo::test::enter_private_world();
    testing::UnitTest::GetInstance()->listeners().Append(new AWorldForEachCase); // gtest deletes it
    return RUN_ALL_TESTS();
}
