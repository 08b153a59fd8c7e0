// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A team with the runner lacp, and as its partner the kernel's bonding driver or Debian's teamd.
//
// lab: LacpPeer.* LacpTeam.needs_* by team, 15 s
// lab: LacpPeer*.* LacpTeam*.* by team on 6.1, 90 s, long
// lab: LacpPeer.* LacpTeam*.* by bpf on 6.1, 80 s, long
#include "netns/configs.h"
#include "support/daemon/lacp_partner.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>

#include <array>
#include <functional>
#include <thread>
#include <tuple>

namespace teamo::test {
namespace {

class LacpPeer : public testing::Test {
protected:
    void SetUp() override {
        if (!emulated()) GTEST_SKIP() << "needs the kernel's drivers (the lab's kernels have them)";
    }

    void expect_aggregate(const char* partner) {
        wires_.host().ip("link set team0 up");
        const auto start = SteadyClock::now();
        for (const auto* port : {"eth1", "eth2"})
            EXPECT_TRUE(
                team_.await_item(fmt::format("ports.{}.runner.detail.mux_state", port), "distributing"));
        fmt::print("{}: two ports carry after {} ms\n", partner, since(start).count());
        wires_.address();
        EXPECT_TRUE(reaches(wires_.host(), client_v4));
        EXPECT_TRUE(team_.await_item("ports.eth1.runner.partner_lacpdu_info.state", "63"));
        EXPECT_EQ("63", team_.item("ports.eth2.runner.actor_lacpdu_info.state"));
        EXPECT_EQ(team_.item("ports.eth1.runner.partner_lacpdu_info.system"),
                  team_.item("ports.eth2.runner.partner_lacpdu_info.system"));
    }

    const Cabling wires_{2, FarSide::open};
    TeamUnderTest team_{team_config(fast, ports_object(2))};
};

TEST_F(LacpPeer, bonding) {
    const auto& far = wires_.peer();
    far.ip("link add bond0 type bond mode 802.3ad lacp_rate fast miimon 10 xmit_hash_policy layer3+4");
    for (const auto* port : {"p1", "p2"})
        far.ip(fmt::format("link set {0} down\nlink set {0} mtu 1500\nlink set {0} master bond0", port));
    far.ip(fmt::format("link set bond0 up\naddr add {}/24 dev bond0", client_v4));
    expect_aggregate("bonding");
    // One slave leaves: the other carries all.
    far.ip("link set p2 nomaster");
    EXPECT_TRUE(team_.await_item("ports.eth2.datapath.transmits", "false"));
    EXPECT_TRUE(reaches(wires_.host(), client_v4));
}

TEST_F(LacpPeer, teamd) {
    const auto& far = wires_.peer();
    far.ip("link set p1 down\nlink set p2 down\nlink set p1 mtu 1500\nlink set p2 mtu 1500");
    const ConfigFile config(R"({"device": "far0", "runner": {"name": "lacp", "fast_rate": true},
                                "ports": {"p1": {}, "p2": {}}})");
    auto teamd = Process::start({.argv = {"teamd", "-f", config.path()}, .in = &far});
    EXPECT_TRUE(eventually("teamd has made its device", [&] { return exists(far, "far0"); }));
    far.ip(fmt::format("link set far0 up\naddr add {}/24 dev far0", client_v4));
    expect_aggregate("teamd");
    teamd.signal(SIGSTOP);
    EXPECT_TRUE(team_.await_item("ports.eth1.datapath.transmits", "false"));
    teamd.signal(SIGCONT);
    EXPECT_TRUE(team_.await_item("ports.eth1.datapath.transmits", "true"));
    teamd.signal(SIGTERM);
    EXPECT_TRUE(teamd.wait(patient(long_enough)));
}

/// How long the others take with themselves, from the second cable on.
class LacpPeerAlone : public testing::Test {
protected:
    void SetUp() override {
        if (!emulated()) GTEST_SKIP() << "needs the kernel's drivers (the lab's kernels have them)";
    }
    /// `is_in_use`: whether a port of the host carries.
    void measure(const char* what, const std::function<bool(const std::string& port)>& is_in_use) {
        ASSERT_TRUE(eventually("eth1 carries", [&] { return is_in_use("eth1"); }, 30s));
        std::this_thread::sleep_for(1s);
        const auto start = SteadyClock::now();
        wires_.plug(2);
        ASSERT_TRUE(eventually("eth2 carries", [&] { return is_in_use("eth2"); }, 30s));
        fmt::print("{} with itself: the second port carries {} ms after its cable\n", what,
                   since(start).count());
    }
    const Cabling wires_{2, FarSide::open};
};

TEST_F(LacpPeerAlone, bonding) {
    wires_.pull(2);
    for (const auto& [in, device, ports] : {std::tuple(&wires_.host(), "bond0", std::array{"eth1", "eth2"}),
                                            {&wires_.peer(), "bond1", std::array{"p1", "p2"}}}) {
        in->ip(fmt::format("link add {} type bond mode 802.3ad lacp_rate fast miimon 10", device));
        for (const auto* port : ports)
            in->ip(fmt::format("link set {0} down\nlink set {0} mtu 1500\nlink set {0} master {1}", port,
                               device));
        in->ip(fmt::format("link set {} up", device));
    }
    wires_.pull(2);
    measure("bonding", [this](const std::string& port) {
        return must(wires_.host(), "ip -d link show " + port).find("ad_actor_oper_port_state 63") !=
               std::string::npos;
    });
}

TEST_F(LacpPeerAlone, teamd) {
    wires_.host().ip("link set eth1 down\nlink set eth2 down");
    wires_.peer().ip("link set p1 down\nlink set p2 down\nlink set p1 mtu 1500\nlink set p2 mtu 1500");
    const auto config = [](const char* device, const char* one, const char* two) {
        return ConfigFile(fmt::format(
            R"({{"device": "{}", "runner": {{"name": "lacp", "fast_rate": true}}, "ports": {{"{}": {{}}, "{}": {{}}}}}})",
            device, one, two));
    };
    const auto near = config("near0", "eth1", "eth2"), far = config("far0", "p1", "p2");
    auto here = Process::start({.argv = {"teamd", "-f", near.path()}, .in = &wires_.host()});
    auto there = Process::start({.argv = {"teamd", "-f", far.path()}, .in = &wires_.peer()});
    EXPECT_TRUE(eventually("teamd has made its devices",
                           [&] { return exists(wires_.host(), "near0") && exists(wires_.peer(), "far0"); }));
    wires_.pull(2);
    wires_.host().ip("link set near0 up");
    wires_.peer().ip("link set far0 up");
    measure("teamd", [this](const std::string& port) {
        const auto state = run({.argv = {"teamdctl", "near0", "state", "item", "get",
                                         "ports." + port + ".runner.actor_lacpdu_info.state"},
                                .in = &wires_.host()});
        return state.out.starts_with("63");
    });
    for (auto* one : {&here, &there}) {
        one->signal(SIGTERM);
        EXPECT_TRUE(one->wait(patient(long_enough)));
    }
}

} // namespace
} // namespace teamo::test
