// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Another program removes the team's device.
//
// lab: LostDevice.* by team, 25 s, long
#include "netns/configs.h"

#include <gmock/gmock.h>

#include <sstream>

namespace teamo::test {
namespace {

using testing::HasSubstr;

/// A team with its own MTU over two ports that an administrator had configured.
class LostDevice : public testing::Test {
protected:
    LostDevice() : wires_(2, FarSide::open) {
        wires_.host().ip("link set eth1 mtu 1400 address 02:00:00:00:01:01\n"
                         "link set eth2 mtu 1300 allmulticast on");
        must(wires_.host(), "echo 1 > /proc/sys/net/ipv6/conf/eth1/disable_ipv6");
        before_ = ports();
        team_.emplace(loadbalance(2));
        bring_up(wires_, *team_);
        bonded_ = by_bonding(wires_);
        wires_.host().ip("link set team0 mtu 4000 address 02:00:00:00:07:07");
        for (const auto* port : {"eth1", "eth2"}) {
            must_become(4000U, [&] { return look(wires_.host(), port).mtu; });
            must_become(std::string("02:00:00:00:07:07"), [&] { return look(wires_.host(), port).address; });
        }
    }

    std::string ports() const { return snapshot(wires_.host(), "eth1") + snapshot(wires_.host(), "eth2"); }

    /// What the daemon has not restored. A bond that is deleted restores the MTU of its slaves without a
    /// notice (bond_main.c: __dev_set_mtu), so IPv6 keeps the former one until the device is up with IPv6.
    std::string left() const {
        std::istringstream lines(difference(before_, ports()));
        std::string rest;
        for (std::string line; std::getline(lines, line);)
            if (!bonded_ || line.find("ipv6/conf/") == std::string::npos ||
                line.find("/mtu:") == std::string::npos)
                rest += line + '\n';
        return rest;
    }

    template <class Value, class Read>
    static void must_become(const Value& value, Read read) {
        if (const auto became = becomes(value, read); !became) throw SetupError(became.message());
    }

    const Cabling wires_;
    std::string before_;
    std::optional<TeamUnderTest> team_;
    bool bonded_ = false;
};

TEST_F(LostDevice, restores_ports_before_a_new_device) {
    team_->kill();
    wires_.host().ip("link del team0");
    ASSERT_NE("", difference(before_, ports())) << "they are not restored yet";
    team_->start({"-n"}); // without ports: the ports keep the restored settings
    EXPECT_TRUE(exists(wires_.host(), "team0"));
    EXPECT_EQ("", left());
    EXPECT_EQ(0, team_->stop());
}

TEST_F(LostDevice, restores_ports_after_a_new_team) {
    team_->kill();
    wires_.host().ip("link del team0");
    team_->start();
    bring_up(wires_, *team_);
    EXPECT_NE("02:00:00:00:07:07", look(wires_.host(), "team0").address) << "it is a new device";
    EXPECT_EQ(0, team_->stop());
    EXPECT_EQ("", difference(before_, ports()));
}

TEST_F(LostDevice, ends_a_running_daemon_with_status_2) {
    wires_.host().ip("link del team0");
    EXPECT_TRUE(eventually("the daemon ends", [&] { return !team_->running(); }));
    EXPECT_EQ(2, team_->stop());
    EXPECT_THAT(team_->log(), HasSubstr("device team0 was removed by another program"));
    EXPECT_EQ("", left());
}

} // namespace
} // namespace teamo::test
