// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The effects of a port's removal: port remove --dry-run.
//
// lab: PortRemoveDryRun.* by none: it is the same with every datapath
#include "netns/configs.h"
#include "netns/connection.h"
#include "netns/life/operators.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

/// The port in "bucket 137 leaves by eth2 (then …)".
std::string port_in(const std::string& answer) { return words_of(answer).at(4); }

std::string all_snapshots(const Cabling& wires) {
    std::string all = snapshot(wires.host(), "team0");
    for (unsigned number = 1; number <= wires.ports(); ++number)
        all += snapshot(wires.host(), Cabling::port(number));
    return all;
}

TEST(PortRemoveDryRun, lists_connections_and_changes_nothing) {
    const Cabling wires(3, FarSide::lag_switch);
    const TeamUnderTest team(loadbalance(3));
    bring_up(wires, team);
    for (const auto& [own, client] : {std::pair(team_v4, client_v4), std::pair(team_v6, client_v6)}) {
        ASSERT_TRUE(reaches(wires.host(), client));
        const Connection connection(wires, client);
        const auto port = port_in(ask(team, fmt::format("balance hash src {} dst {} tcp sport {} dport {}",
                                                        own, client, connection.port(), service))
                                      .out);
        const bool ipv6 = std::string_view(client) == client_v6;
        const auto shown = [ipv6](const char* address, std::uint16_t number) {
            return ipv6 ? fmt::format("[{}]:{}", address, number) : fmt::format("{}:{}", address, number);
        };
        const auto line =
            fmt::format("    {} -> {}: bucket ", shown(own, connection.port()), shown(client, service));
        for (unsigned number = 1; number <= 3; ++number) {
            const auto before = all_snapshots(wires);
            const auto said = ask(team, "port remove " + Cabling::port(number), {"--dry-run"});
            EXPECT_EQ(0, said.status) << said.err;
            EXPECT_EQ("", difference(before, all_snapshots(wires)));
            EXPECT_THAT(said.out, HasSubstr("of 256 leave by it"));
            if (Cabling::port(number) == port)
                EXPECT_THAT(said.out, AllOf(HasSubstr("connections: 1 of 1 leave by it"), HasSubstr(line),
                                            HasSubstr(fmt::format(" ({})\n", ::getpid()))));
            else
                EXPECT_THAT(said.out, HasSubstr("connections: 0 of 1 leave by it"));
            EXPECT_THAT(said.out, HasSubstr("the other 2 ports carry 20000 Mbit/s"));
        }
    }
    EXPECT_EQ(0, ask(team, "port present eth1").status);
}

TEST(PortRemoveDryRun, names_offloads_that_other_ports_lack) {
    const Cabling wires(3, FarSide::open);
    const TeamUnderTest team(team_config(by_flow, ports_object(3), R"("offload": {"repair": false}, )"));
    bring_up(wires, team);
    EXPECT_THAT(ask(team, "port remove -n eth1").out, HasSubstr("  offloads: the others have the same\n"));
    must(wires.host(), "ethtool -K eth2 tx-tcp-segmentation off && ip link set eth3 gso_max_size 20000");
    EXPECT_THAT(ask(team, "port remove -n eth1").out,
                HasSubstr("  offloads: eth2 has no tx-tcp-segmentation\n  capacity"));
    EXPECT_THAT(ask(team, "port remove -n eth2").out,
                HasSubstr("  offloads: the others have tx-tcp-segmentation, which it does not have\n"));
    EXPECT_THAT(ask(team, "port remove -n eth3").out,
                HasSubstr("  offloads: packets may have 65536 bytes instead of 20000\n"));
}

TEST(PortRemoveDryRun, refuses_the_last_port_that_carries) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    wires.pull(2);
    ASSERT_TRUE(team.await_link("eth2", false));
    const auto last = ask(team, "port remove -n eth1");
    EXPECT_EQ(1, last.status);
    EXPECT_THAT(last.err, EndsWith("\nteam0: port remove eth1: it is the last port that carries\n"));
    const auto idle = ask(team, "port remove eth2 --dry-run --json");
    EXPECT_EQ(0, idle.status) << idle.err;
    EXPECT_THAT(idle.out, HasSubstr("\"sufficient\": true"));
    EXPECT_EQ(1, ask(team, "port remove -n eth9").status);
    EXPECT_EQ(0, ask(team, "port present eth1").status);
}

} // namespace
} // namespace teamo::test
