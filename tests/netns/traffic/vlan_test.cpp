// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A VLAN device on a team; needs a kernel with VLAN devices.
//
// lab: Vlan.* by team, 15 s, long
// lab: Vlan.* by bpf, 10 s
// lab: Vlan.* by bond on newest, 10 s
#include "netns/configs.h"
#include "support/traffic/frames.h"
#include "support/traffic/packet_socket.h"
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
        team_.emplace(ranked_activebackup(2));
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

TEST_F(Vlan, announces_a_bridge_above_it) {
    wires_.host().ip("link add name br7 address 02:00:00:00:00:10 type bridge\n"
                     "link set team0.7 master br7\nlink set br7 up\naddr add 10.7.1.1/24 dev br7");
    await_operation(wires_.host(), "br7");
    ASSERT_TRUE(team_->await_item("runner.active_port", "eth1"));
    const PacketSocket far(wires_.peer(), "p2");
    team_->set_item("runner.active_port", "eth2");
    EXPECT_TRUE(eventually("a gratuitous ARP", [&] {
        const auto seen = far.receive(10ms);
        return seen && !seen->outgoing && gratuitous_arp_for(seen->frame) == "10.7.1.1";
    }));
}

} // namespace
} // namespace teamo::test
