// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Ports that lose packets although their link is up, and the link watch loss.
//
// lab: Loss.* by team, 60 s, long
#include "netns/configs.h"
#include "netns/loss/dropper.h"
#include "support/traffic/flows.h"
#include "support/traffic/frames.h"
#include "support/traffic/packet_socket.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

using testing::HasSubstr;

constexpr std::string_view watch =
    R"("link_watch": [{"name": "ethtool"}, {"name": "loss", "retry": 5000}], )";
constexpr double two_per_cent = 0.02;

/// 16 connections, 100 Mbit/s together.
std::vector<double> rates() { return std::vector<double>(16, 100e6 / 8 / 16); }

std::string loss(const TeamUnderTest& team, const std::string& port, std::string_view key) {
    return team.item(fmt::format("ports.{}.loss.{}", port, key));
}
bool is_named(const TeamUnderTest& team, const std::string& port) {
    return team.log().find(fmt::format("port {}: loses packets: ", port)) != std::string::npos;
}

class Loss : public testing::Test {
protected:
    /// Whether a datagram that arrives at this port gets to the host.
    bool receives_by(unsigned port) const {
        const PacketSocket far(wires_.peer(), Cabling::far_end(port)), team(wires_.host(), "team0");
        const auto address = mac(look(wires_.host(), "team0").address);
        const auto frame = ethernet(address, mac("02:00:00:00:00:77"), ether_experiment, "inbound");
        for (int count = 0; count < 5; ++count) {
            far.send(frame);
            if (team.await([](const Seen& seen) { return ethertype_of(seen.frame) == ether_experiment; }, 1s))
                return true;
        }
        return false;
    }
    const Cabling wires_{4, FarSide::lag_switch};
};

TEST_F(Loss, of_one_port_is_named_and_the_port_taken_out) {
    TeamUnderTest team(team_config(by_flow, ports_object(4), watch));
    bring_up(wires_, team);
    ASSERT_TRUE(reaches(wires_.host(), client_v4));
    const BulkFlows flows(
        {.from = &wires_.host(), .to = &wires_.client(), .address = client_v4, .rates = rates()});
    EXPECT_TRUE(
        stays("no finding", [&] { return team.log().find("loses packets") == std::string::npos; }, 2s));
    const auto number = busiest_port(wires_);
    const auto port = Cabling::port(number);
    const Dropper dropper(wires_.peer(), Cabling::far_end(number), two_per_cent);
    const auto start = SteadyClock::now();
    EXPECT_TRUE(eventually("the port is named", [&] { return is_named(team, port); }));
    fmt::print("named after {} ms\n", since(start).count());
    EXPECT_TRUE(team.await_item("ports." + port + ".loss.taken_out", "true"));
    EXPECT_TRUE(team.await_item("ports." + port + ".datapath.transmits", "false"));
    fmt::print("taken out after {} ms\n", since(start).count());
    EXPECT_EQ("true", team.item("ports." + port + ".link_watches.up"));
    // The switch does not know, and goes on to send there.
    EXPECT_TRUE(receives_by(number)) << "a port that is taken out still receives";
    EXPECT_THAT(team.teamoctl({"state"}).out, HasSubstr("loss: loses packets: "));
    EXPECT_THAT(team.teamoctl({"doctor"}).out, HasSubstr(port + ": loses packets: "));
    EXPECT_EQ(0, team.teamdctl({"state", "view", "-v"}).status) << "libteamdctl refuses unknown link watches";
    for (unsigned other = 1; other <= 4; ++other)
        EXPECT_EQ(other == number, is_named(team, Cabling::port(other))) << Cabling::port(other);
    EXPECT_TRUE(eventually("it is tried again", [&] {
        return team.log().find("port " + port + " is tried again") != std::string::npos;
    }));
    EXPECT_TRUE(eventually("and taken out for longer", [&] {
        return team.log().find(
                   "port " + port +
                   " is used only while no other port can (link watch loss); tried again in 10 s") !=
               std::string::npos;
    }));
}

TEST_F(Loss, without_the_watch_is_only_named) {
    TeamUnderTest team(team_config(by_flow, ports_object(4)));
    bring_up(wires_, team);
    if (by_driver(wires_)) GTEST_SKIP() << "the driver's segments are counted only for the watch";
    ASSERT_TRUE(reaches(wires_.host(), client_v4));
    const BulkFlows flows(
        {.from = &wires_.host(), .to = &wires_.client(), .address = client_v4, .rates = rates()});
    const auto number = busiest_port(wires_);
    const auto port = Cabling::port(number);
    const Dropper dropper(wires_.peer(), Cabling::far_end(number), two_per_cent);
    EXPECT_TRUE(eventually("the port is named", [&] { return is_named(team, port); }));
    EXPECT_TRUE(stays(
        "it carries", [&] { return team.item("ports." + port + ".datapath.transmits") == "true"; }, 1s));
    EXPECT_EQ("false", loss(team, port, "taken_out"));
}

TEST_F(Loss, behind_all_ports_is_no_ports_loss) {
    TeamUnderTest team(team_config(by_flow, ports_object(4), watch));
    bring_up(wires_, team);
    ASSERT_TRUE(reaches(wires_.host(), client_v4));
    const Dropper dropper(wires_.client(), "client0", two_per_cent);
    const BulkFlows flows(
        {.from = &wires_.host(), .to = &wires_.client(), .address = client_v4, .rates = rates()});
    EXPECT_TRUE(
        stays("no finding", [&] { return team.log().find("loses packets") == std::string::npos; }, 5s));
    EXPECT_TRUE(eventually("segments sent again are counted", [&] {
        const auto lost = std::stoi(loss(team, Cabling::port(busiest_port(wires_)), "retransmitted_ppm"));
        return lost > 5'000 && lost < 50'000;
    }));
}

} // namespace
} // namespace teamo::test
