// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/packets/tipc_links.h"

#include <gtest/gtest.h>

namespace teamo {
namespace {

TEST(TipcBearer, is_between_the_nodes_names) {
    EXPECT_EQ(tipc_bearer_of("1.1.1:eth1-1.1.2:eth1"), "eth1");
    EXPECT_EQ(tipc_bearer_of("a1b2:eth1-c3d4:enp3s0"), "eth1");
    EXPECT_EQ(tipc_bearer_of("a:team-port-b:eth0"), "team-port");
}

TEST(TipcBearer, is_empty_for_other_names) {
    for (const auto* name : {"", ":", "broadcast-link", "a:b", "a:b:c", "a-b"})
        EXPECT_EQ(tipc_bearer_of(name), "") << name;
}

} // namespace
} // namespace teamo
