// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/session.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace teamo::ctl {
namespace {

using namespace std::chrono_literals;

TEST(Patience, is_that_of_the_environment_also_where_ports_join) {
    const auto* before = std::getenv("TEAMOCTL_TIMEOUT");
    const std::string former = before == nullptr ? "" : before;
    ::unsetenv("TEAMOCTL_TIMEOUT");
    EXPECT_EQ(patience_for(control::StateDump{}), 5s);
    EXPECT_EQ(patience_for(control::PortAdd{.port = "eth1"}), 60s);
    ::setenv("TEAMOCTL_TIMEOUT", "20", /*overwrite=*/1);
    EXPECT_EQ(patience_for(control::StateDump{}), 20s);
    EXPECT_EQ(patience_for(control::PortRemove{.port = "eth1"}), 60s);
    ::setenv("TEAMOCTL_TIMEOUT", "300", /*overwrite=*/1);
    EXPECT_EQ(patience_for(control::PortConfigUpdate{.port = "eth1", .config = "{}"}), 300s);
    EXPECT_EQ(patience_for(control::ConfigReload{}), 300s);
    if (before == nullptr)
        ::unsetenv("TEAMOCTL_TIMEOUT");
    else
        ::setenv("TEAMOCTL_TIMEOUT", former.c_str(), /*overwrite=*/1);
}

} // namespace
} // namespace teamo::ctl
