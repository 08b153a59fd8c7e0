// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Promises: the times in which a team notices a target or a partner that no longer answers, and in which LACP
// uses a second cable.
#include "netns/configs.h"
#include "support/daemon/lacp_partner.h"
#include "support/figure.h"
#include "support/traffic/traffic.h"

namespace teamo::test {
namespace {

class Times : public testing::Test {
protected:
    void SetUp() override {
        if (!promises_enforced()) GTEST_SKIP() << "only in ./quickstart measure";
    }

    /// From now until the daemon reports this.
    void until(const TeamUnderTest& team, const std::string& item, const std::string& value) {
        const auto start = SteadyClock::now();
        EXPECT_TRUE(team.await_item(item, value));
        times_.push_back(static_cast<double>(since(start).count()));
    }

    static constexpr int count = 5;
    std::vector<double> times_{}; ///< milliseconds
};

class TimesOfPing : public Times, public testing::WithParamInterface<const char*> {
protected:
    static std::string watch() {
        const bool arp = GetParam() == std::string("arp_ping");
        return fmt::format(R"("link_watch": {{"name": "{}", "interval": 100, "target_host": "{}"}}, )",
                           GetParam(), arp ? client_v4 : client_v6);
    }
};
INSTANTIATE_TEST_SUITE_P(Watch, TimesOfPing, testing::Values("arp_ping", "nsna_ping"),
                         [](const auto& name) { return std::string(name.param); });

TEST_P(TimesOfPing, leaves_a_port_that_leads_nowhere) {
    const Cabling wires(2, FarSide::learning_switch);
    wires.client().ip(
        fmt::format("addr replace {}/24 dev client0\naddr replace {}/64 dev client0", client_v4, client_v6));
    TeamUnderTest team(team_config(activebackup, R"({"eth1": {"prio": 10}, "eth2": {}})", watch()));
    for (int round = 0; round < count; ++round) {
        ASSERT_TRUE(team.await_item("runner.active_port", "eth1"));
        ASSERT_TRUE(team.await_link("eth2"));
        wires.peer().ip("link set p1 nomaster");
        until(team, "runner.active_port", "eth2");
        wires.peer().ip("link set p1 master br0");
    }
    EXPECT_TRUE(at_most("ms until it is left, interval 100 ms", times_, {.promised = 600, .defect = 5'000}));
}

TEST_F(Times, of_lacp) {
    const Cabling wires(2, FarSide::open);
    TeamUnderTest team(team_config(fast, ports_object(2)));
    Partner partner(wires, {1, 2});
    wires.host().ip("link set team0 up");
    ASSERT_TRUE(team.await_item("ports.eth1.runner.detail.mux_state", "distributing"));
    for (int round = 0; round < count; ++round) {
        wires.pull(2);
        ASSERT_TRUE(team.await_item("ports.eth2.runner.detail.mux_state", "detached"));
        wires.plug(2);
        until(team, "ports.eth2.runner.detail.mux_state", "distributing");
    }
    EXPECT_TRUE(at_most("ms until a second cable is used", times_, {.promised = 1'200, .defect = 10'000}));

    times_.clear();
    for (int round = 0; round < count; ++round) {
        partner.team().signal(SIGSTOP);
        until(team, "ports.eth1.runner.state", "expired");
        partner.team().signal(SIGCONT);
        for (const auto* port : {"eth1", "eth2"})
            ASSERT_TRUE(
                team.await_item(fmt::format("ports.{}.runner.detail.mux_state", port), "distributing"));
    }
    EXPECT_TRUE(at_most("ms until a silent partner is left", times_, {.promised = 3'200, .defect = 10'000}));
}

} // namespace
} // namespace teamo::test
