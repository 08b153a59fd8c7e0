// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A port that loses its link again and again (link_watch.damping).
//
// lab: Damping.* by team, 20 s
// lab: Damping.* by bond on newest, 20 s, long
#include "netns/configs.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

using testing::HasSubstr;

/// Its default times: three losses within a minute.
constexpr std::string_view damped = R"("link_watch": {"name": "ethtool", "damping": {}}, )";

class Damping : public testing::Test {
protected:
    void start(std::string_view runner, const std::string& ports, std::string_view more = damped) {
        team_.emplace(team_config(runner, ports, more));
        bring_up(wires_, *team_);
    }
    std::string state(unsigned port, std::string_view path) const {
        return team_->item(fmt::format("ports.{}.{}", Cabling::port(port), path));
    }
    bool carries(unsigned port, bool wanted = true) const {
        return static_cast<bool>(team_->await_item(
            fmt::format("ports.{}.datapath.transmits", Cabling::port(port)), wanted ? "true" : "false"));
    }
    void flap(unsigned port, int times) const {
        for (int count = 0; count < times; ++count) {
            wires_.pull(port);
            EXPECT_TRUE(
                team_->await_item(fmt::format("ports.{}.link_watches.up", Cabling::port(port)), "false"));
            wires_.plug(port);
            EXPECT_TRUE(team_->await_link(Cabling::port(port)));
        }
    }
    bool is_suppressed(unsigned port) const { return state(port, "damping.suppressed") == "true"; }

    const Cabling wires_{2, FarSide::learning_switch};
    std::optional<TeamUnderTest> team_;
};

TEST_F(Damping, keeps_a_flapping_port_out_while_another_one_carries) {
    start(by_flow, ports_object(2));
    flap(1, 2);
    EXPECT_TRUE(carries(1)) << "two losses may happen";
    EXPECT_FALSE(is_suppressed(1));
    flap(1, 1);
    EXPECT_TRUE(is_suppressed(1));
    EXPECT_TRUE(carries(1, false));
    EXPECT_EQ("true", state(1, "link_watches.up"));
    EXPECT_TRUE(carries(2));
    EXPECT_THAT(team_->log(), HasSubstr("port eth1 loses its link again and again and is used only while no "
                                        "other port can, until it has kept its link for "));
    EXPECT_THAT(team_->teamoctl({"state"}).out, HasSubstr("damped: used only while no other port can"));
    EXPECT_THAT(team_->teamoctl({"doctor"}).out, HasSubstr("eth1: loses its link again and again"));
    // Traffic first: as the only one it carries, but not longer.
    wires_.pull(2);
    EXPECT_TRUE(carries(1));
    EXPECT_TRUE(reaches(wires_.host(), client_v4));
    wires_.plug(2);
    EXPECT_TRUE(carries(2));
    EXPECT_TRUE(carries(1, false));
    // It is used again when its penalty has fallen: at once with a short half-life.
    const auto done = team_->teamdctl(
        {"port", "config", "update", "eth1",
         R"({"link_watch": {"name": "ethtool", "damping": {"half_life": 100, "max_suppress": 100}}})"});
    EXPECT_EQ(0, done.status) << done.err;
    EXPECT_TRUE(carries(1));
    EXPECT_THAT(team_->log(), HasSubstr("port eth1 is no longer damped, after "));
    EXPECT_FALSE(is_suppressed(1));
}

TEST_F(Damping, ends_by_itself) {
    start(by_flow, ports_object(2),
          R"("link_watch": {"name": "ethtool", "damping": {"penalty": 5000, "half_life": 500}}, )");
    wires_.pull(1);
    EXPECT_TRUE(eventually("it is damped", [&] {
        return team_->log().find("eth1 loses its link again and again") != std::string::npos;
    }));
    wires_.plug(1);
    EXPECT_TRUE(team_->await_item("ports.eth1.damping.suppressed", "false"));
    EXPECT_TRUE(carries(1));
}

TEST_F(Damping, lets_an_active_port_rest_without_a_lost_packet) {
    start(activebackup, R"({"eth1": {"prio": 100}, "eth2": {}})");
    flap(1, 3);
    EXPECT_TRUE(team_->await_item("runner.active_port", "eth2"));
    Stream out({.from = &wires_.host(), .to = &wires_.client(), .address = client_v4, .rate = 2'000});
    flap(1, 3);
    EXPECT_TRUE(out.flows(100));
    out.stop();
    EXPECT_EQ(0U, out.tally().lost) << text_of(out.tally());
    EXPECT_EQ("eth2", team_->item("runner.active_port"));
    wires_.pull(2);
    EXPECT_TRUE(team_->await_item("runner.active_port", "eth1"));
    wires_.plug(2);
    EXPECT_TRUE(team_->await_item("runner.active_port", "eth2"));
}

TEST_F(Damping, goes_on_after_a_reload_and_a_kill) {
    start(by_flow, ports_object(2));
    flap(1, 3);
    ASSERT_TRUE(is_suppressed(1));
    const ConfigFile other(team_config(
        by_flow, ports_object(2),
        R"("link_watch": {"name": "ethtool", "delay_up": 1, "damping": {"half_life": 90000}}, )"));
    EXPECT_EQ(0, team_->teamoctl({"config", "reload", other.path()}).status);
    EXPECT_TRUE(is_suppressed(1));
    EXPECT_TRUE(carries(1, false));
    team_->kill();
    team_->start();
    EXPECT_TRUE(team_->await_link("eth1"));
    EXPECT_TRUE(is_suppressed(1));
    EXPECT_TRUE(carries(2));
    EXPECT_TRUE(carries(1, false));
}

TEST_F(Damping, counts_no_port_that_is_set_down) {
    start(by_flow, ports_object(2));
    for (int count = 0; count < 4; ++count) {
        wires_.host().ip("link set eth1 down");
        EXPECT_TRUE(team_->await_item("ports.eth1.link_watches.up", "false"));
        wires_.host().ip("link set eth1 up");
        EXPECT_TRUE(team_->await_link("eth1"));
    }
    EXPECT_EQ("0", state(1, "damping.penalty"));
}

} // namespace
} // namespace teamo::test
