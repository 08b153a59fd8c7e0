// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Ports learn their switches by LLDP, and activebackup and the reports use it.
//
// lab: Lldp.* by none: the frames reach the ports with every datapath (frames_test.cpp,
// activebackup_test.cpp)
#include "netns/configs.h"
#include "netns/life/operators.h"
#include "support/traffic/lldp_frames.h"
#include "support/traffic/packet_socket.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::uint16_t two_minutes = 120;

void announce(const Cabling& wires, unsigned port, const std::string& name, std::uint16_t ttl = two_minutes) {
    const auto far_end = Cabling::far_end(port);
    PacketSocket(wires.peer(), far_end).send(lldp_frame("chassis of " + name, far_end, ttl, name));
}

std::string switch_item(unsigned port, const std::string& item = "name") {
    return fmt::format("ports.{}.failure_domain.switch.{}", Cabling::port(port), item);
}

/// Sends until the team knows the switch: a far end drops what it sends before the kernel has activated it.
testing::AssertionResult learns(const TeamUnderTest& team, const Cabling& wires, unsigned port,
                                const std::string& name) {
    return becomes(name, [&] {
        announce(wires, port, name);
        return team.item(switch_item(port));
    });
}

/// eth1 and eth2 at switch a, eth3 at switch b.
void announce_two_switches(const Cabling& wires, const TeamUnderTest& team) {
    for (const auto& [port, name] : {std::pair(1U, "a"), {2U, "a"}, {3U, "b"}})
        ASSERT_TRUE(learns(team, wires, port, name));
}

TEST(Lldp, shows_the_switch_of_each_port_until_its_ttl) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(ranked_activebackup(2));
    ASSERT_TRUE(team.await_link("eth1"));
    const auto port = [&] { return team.item(switch_item(1, "port")); };
    EXPECT_EQ("none", team.item(switch_item(1, "source")));
    const PacketSocket far(wires.peer(), "p1");
    EXPECT_TRUE(becomes("Ethernet 8", [&] {
        far.send(
            lldp_frame("c", "Ethernet 7", two_minutes, "leaf-7", 0x02)); // to an address of another protocol
        far.send(lldp_frame("c", "Ethernet 8", two_minutes, "leaf-7"));
        return port();
    }));
    EXPECT_EQ("lldp", team.item(switch_item(1, "source")));
    EXPECT_EQ("c", team.item(switch_item(1, "id")));
    EXPECT_THAT(ask(team, "state view").out, HasSubstr("    leads to: leaf-7, port Ethernet 8\n"));
    const auto metrics = ask(team, "metrics").out;
    EXPECT_THAT(metrics, HasSubstr(R"(port="eth1",switch="leaf-7",switch_port="Ethernet 8",)"));
    EXPECT_THAT(metrics, HasSubstr(R"(port="eth2",switch="",switch_port="",)"));
    EXPECT_THAT(team.log(), HasSubstr("port eth1 leads to leaf-7, port Ethernet 8 (LLDP)"));
    far.send(lldp_frame("c", "Ethernet 8", 1, "leaf-7"));
    EXPECT_TRUE(team.await_item(switch_item(1, "source"), "none"));
    EXPECT_EQ("none", team.item(switch_item(2, "source")));
}

TEST(Lldp, leads_activebackup_to_the_other_switch) {
    const Cabling wires(3, FarSide::open);
    const TeamUnderTest team(team_config(activebackup, ports_object(3)));
    for (const auto* port : {"eth1", "eth2", "eth3"})
        ASSERT_TRUE(team.await_link(port));
    EXPECT_TRUE(team.await_item("runner.active_port", "eth1"));
    announce_two_switches(wires, team);
    wires.pull(1);
    EXPECT_TRUE(team.await_item("runner.active_port", "eth3"));
    EXPECT_THAT(
        team.log(),
        HasSubstr("active port eth3: chosen instead of eth2, which shares the switch of the lost port"));
}

TEST(Lldp, is_kept_over_a_reload_and_learned_anew_by_a_new_daemon) {
    const Cabling wires(2, FarSide::open);
    TeamUnderTest team(ranked_activebackup(2));
    ASSERT_TRUE(team.await_link("eth2"));
    ASSERT_TRUE(learns(team, wires, 2, "a"));
    EXPECT_EQ(0, ask(team, "config reload").status);
    EXPECT_EQ("a", team.item(switch_item(2)));
    team.kill();
    team.start();
    EXPECT_EQ("", team.item(switch_item(2)));
    EXPECT_TRUE(learns(team, wires, 2, "a"));
}

TEST(Lldp, is_used_by_doctor_and_by_the_dry_run_of_a_removal) {
    const Cabling wires(3, FarSide::open);
    const TeamUnderTest team(team_config(activebackup, ports_object(3)));
    bring_up(wires, team);
    announce_two_switches(wires, team);
    EXPECT_EQ("", team.item("shared_by_all.switch.name"));
    EXPECT_THAT(ask(team, "doctor").out, Not(HasSubstr("switch")));
    EXPECT_THAT(ask(team, "port remove eth1", {"--dry-run"}).out, Not(HasSubstr("redundancy")));
    EXPECT_THAT(ask(team, "port remove eth3", {"--dry-run"}).out,
                HasSubstr("  redundancy: all others share one switch a\n"));
    ASSERT_EQ(0, ask(team, "port remove eth3").status);
    EXPECT_EQ("a", team.item("shared_by_all.switch.name"));
    EXPECT_THAT(ask(team, "doctor").out, AllOf(HasSubstr("note: team0: eth1 and eth2 lead to one switch (a)"),
                                               HasSubstr("connect one of them to another switch")));
}

/// lldpd and systemd-networkd have sockets like this one.
TEST(Lldp, leaves_the_frames_to_other_programs_too) {
    const Cabling wires(1, FarSide::open);
    const TeamUnderTest team(ranked_activebackup(1));
    ASSERT_TRUE(team.await_link("eth1"));
    const PacketSocket other(wires.host(), "eth1", 0x88cc);
    EXPECT_TRUE(learns(team, wires, 1, "a"));
    EXPECT_TRUE(other.receive(long_enough));
}

} // namespace
} // namespace teamo::test
