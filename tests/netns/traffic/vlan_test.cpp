// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A VLAN device on a team; needs a kernel with VLAN devices.
//
// lab: Vlan.* by team, 15 s, long
// lab: Vlan.* by bpf, 10 s
// lab: Vlan.* by bond on 6.12, 10 s
#include "netns/configs.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

using testing::HasSubstr;

constexpr const char* vlan_client = "10.7.0.2";

class Vlan : public testing::Test {
protected:
    void SetUp() override {
        if (sh(wires_.client(), "ip link add link client0 name client0.7 type vlan id 7").status != 0)
            GTEST_SKIP() << "this kernel has no VLAN devices (8021q)";
        wires_.client().ip(fmt::format("link set client0.7 up\naddr add {}/24 dev client0.7", vlan_client));
        team_.emplace(loadbalance(2));
        bring_up(wires_, *team_);
        wires_.host().ip("link add link team0 name team0.7 type vlan id 7\n"
                         "link set team0.7 up\naddr add 10.7.0.1/24 dev team0.7");
        ASSERT_TRUE(reaches(wires_.host(), vlan_client));
    }

    const Cabling wires_{2, FarSide::lag_switch};
    std::optional<TeamUnderTest> team_;
};

TEST_F(Vlan, has_the_offloads_of_the_team) {
    for (const auto* device : {"team0", "team0.7"}) {
        const auto features = must(wires_.host(), fmt::format("ethtool -k {}", device));
        for (const auto* on : {"tx-tcp-segmentation: on", "tx-tcp6-segmentation: on", "scatter-gather: on",
                               "tx-checksumming: on"})
            EXPECT_THAT(features, HasSubstr(on)) << device;
    }
}

} // namespace
} // namespace teamo::test
