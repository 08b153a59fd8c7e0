// SPDX-License-Identifier: LGPL-2.1-or-later
//
// teamoctl's commands that teamdctl does not have.
//
// lab: *BalanceHash.* Teamoctl.refuses_options_* by none: teamoctl's output does not depend on the datapath
#include "base/result.h"
#include "netns/configs.h"
#include "netns/life/operators.h"
#include "support/net/socket_address.h"
#include "support/traffic/frames.h"
#include "support/traffic/packet_socket.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string hashing(const std::string& fields) {
    return fmt::format(R"({{"name": "loadbalance", "tx_hash": [{}]}})", fields);
}

/// Sets the client's neighbour entry by hand: at open far ends no host answers.
void know_neighbours(const Cabling& wires) {
    for (const auto* address : {client_v4, client_v6})
        wires.host().ip(fmt::format("neigh replace {} dev team0 lladdr 02:00:00:00:00:02", address));
}

constexpr std::uint16_t served_port = 7000;

/// Sends one datagram through the kernel's stack and returns the port that it leaves by.
std::string port_taken(const Cabling& wires, const std::string& to, std::uint16_t source_port) {
    const bool ipv6 = to.find(':') != std::string::npos;
    std::vector<PacketSocket> far;
    for (unsigned number = 1; number <= wires.ports(); ++number)
        far.emplace_back(wires.peer(), Cabling::far_end(number), ipv6 ? ether_ipv6 : ether_ipv4);
    const SocketAddress from(ipv6 ? team_v6 : team_v4, source_port), target(to, served_port);
    const auto socket = socket_in(wires.host(), target.family(), SOCK_DGRAM);
    const std::string payload = fmt::format("flow {}", source_port);
    if (::bind(socket.get(), from.get(), from.size) < 0 ||
        ::sendto(socket.get(), payload.data(), payload.size(), 0, target.get(), target.size) < 0)
        throw SetupError(errno_text(errno));
    std::string port;
    const auto seen = [&] {
        for (unsigned number = 1; number <= wires.ports(); ++number)
            while (const auto frame = far[number - 1].receive(1ms))
                if (from_offset(frame->frame, 14 + (ipv6 ? 40 : 20) + 8).starts_with(payload))
                    port = Cabling::port(number);
        return !port.empty();
    };
    return eventually("", seen, 2s) ? port : "none";
}

struct HashCase {
    const char *name, *fields;
};
std::ostream& operator<<(std::ostream& out, const HashCase& hash) { return out << hash.name; }

class BalanceHash : public testing::TestWithParam<HashCase> {};
INSTANTIATE_TEST_SUITE_P(Fields, BalanceHash,
                         testing::Values(HashCase{"macs", R"("eth")"}, HashCase{"ip", R"("ip")"},
                                         HashCase{"default", R"("eth", "ipv4", "ipv6")"},
                                         HashCase{"flow", R"("eth", "vlan", "ip", "l4")"},
                                         HashCase{"ports", R"("udp")"}),
                         [](const auto& each) { return each.param.name; });

TEST_P(BalanceHash, names_the_port_of_a_flow) {
    const Cabling wires(4, FarSide::open);
    const TeamUnderTest team(team_config(hashing(GetParam().fields), ports_object(4)));
    bring_up(wires, team);
    know_neighbours(wires);
    for (const auto& [from, to] : {std::pair(team_v4, client_v4), std::pair(team_v6, client_v6)})
        for (std::uint16_t number = 0; number < 6; ++number) {
            const auto source_port = static_cast<std::uint16_t>(20000 + 977 * number);
            const auto answer = ask(team, fmt::format("balance hash src {} dst {} udp sport {} dport {}",
                                                      from, to, source_port, served_port));
            ASSERT_EQ(0, answer.status) << answer.err;
            EXPECT_THAT(answer.out,
                        HasSubstr(fmt::format(" leaves by {} (then eth", port_taken(wires, to, source_port))))
                << to << " from " << source_port;
        }
}

TEST(BalanceHash, uses_the_address_of_the_gateway) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(team_config(by_mac, ports_object(2)));
    bring_up(wires, team);
    know_neighbours(wires);
    wires.host().ip(fmt::format("route add default via {}", client_v4));
    const auto own = look(wires.host(), "team0").address;
    const auto said = ask(team, fmt::format("balance hash smac {} dmac 02:00:00:00:00:02", own));
    EXPECT_EQ(0, said.status) << said.err;
    EXPECT_EQ(said.out, ask(team, "balance hash src 10.0.0.1 dst 192.0.2.1 tcp").out);
}

TEST(BalanceHash, names_missing_values) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    const auto unknown = ask(team, "balance hash src 10.0.0.1 dst 10.0.0.77 tcp sport 1 dport 2");
    EXPECT_EQ(1, unknown.status);
    EXPECT_THAT(unknown.err, AllOf(HasSubstr("lacks dmac"), HasSubstr("neighbour entry for 10.0.0.77")));
    const auto elsewhere = ask(team, "balance hash src 10.0.0.1 dst 127.0.0.1 tcp sport 1 dport 2");
    EXPECT_EQ(1, elsewhere.status);
    EXPECT_THAT(elsewhere.err, AllOf(HasSubstr("lacks dmac"), HasSubstr("by lo, not by the team")));
    const auto half = ask(team, "balance hash dst 10.0.0.77 tcp dmac 02:00:00:00:00:02");
    EXPECT_EQ(1, half.status);
    EXPECT_THAT(half.err, HasSubstr("lacks src, sport, dport: the team hashes eth, ipv4, ipv6, tcp, udp"));
    for (const auto* line : {"balance hash", "balance hash src", "balance hash sport 1", "balance hash now"})
        EXPECT_EQ(2, ask(team, line).status) << line;
}

TEST(BalanceHash, explains_runners_without_a_hash) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(ranked_activebackup(2));
    bring_up(wires, team);
    const auto answer = ask(team, "balance hash dst 10.0.0.2");
    EXPECT_EQ(1, answer.status);
    EXPECT_THAT(answer.err, HasSubstr("activebackup does not hash; packets leave by eth1"));
}

/// The bucket number in "bucket 137 leaves by …".
std::string bucket_in(const std::string& answer) { return words_of(answer).at(1); }

TEST(BalanceCommand, move_sends_a_flow_by_the_named_port) {
    const Cabling wires(3, FarSide::open);
    const TeamUnderTest team(loadbalance(3));
    bring_up(wires, team);
    know_neighbours(wires);
    const std::string flow =
        fmt::format("balance hash src {} dst {} udp sport 20000 dport {}", team_v4, client_v4, served_port);
    const auto bucket = bucket_in(ask(team, flow).out);
    for (const auto* port : {"eth3", "eth1", "eth2"}) {
        const auto moved = ask(team, fmt::format("balance move {} {} now", bucket, port));
        EXPECT_EQ(0, moved.status) << moved.err;
        EXPECT_EQ("", moved.out + moved.err);
        EXPECT_THAT(ask(team, flow).out, StartsWith(fmt::format("bucket {} leaves by {} ", bucket, port)));
        EXPECT_EQ(port, port_taken(wires, client_v4, 20000));
    }
    EXPECT_THAT(ask(team, "balance").out, AllOf(HasSubstr("last moves:\n"), HasSubstr("by hand")));
}

TEST(BalanceCommand, move_refuses_an_unknown_bucket_or_port) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    for (const auto* line : {"balance move 256 eth1", "balance move -1 eth1", "balance move x eth1",
                             "balance move 7", "balance move 7 eth1 soon", "balance move 7 eth1 now now"})
        EXPECT_EQ(2, ask(team, line).status) << line;
    const auto unknown = ask(team, "balance move 7 eth9");
    EXPECT_EQ(1, unknown.status);
    EXPECT_THAT(unknown.err, StartsWith("team0: balance move"));
}

TEST(BalanceCommand, freeze_and_thaw) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    const auto freeze = ask(team, "balance freeze");
    EXPECT_EQ(0, freeze.status) << freeze.err;
    EXPECT_EQ("", freeze.out + freeze.err);
    EXPECT_EQ("true", team.item("balance.frozen"));
    EXPECT_THAT(ask(team, "balance show").out, HasSubstr("frozen"));
    EXPECT_EQ(0, ask(team, "balance thaw").status);
    EXPECT_EQ("false", team.item("balance.frozen"));
    EXPECT_THAT(ask(team, "balance show").out, Not(HasSubstr("frozen")));
}

TEST(Teamoctl, refuses_options_of_other_commands) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(2));
    for (const auto& [line, option] :
         {std::pair("state", "--json"), std::pair("port remove eth1", "--json"), std::pair("stats", "-n"),
          std::pair("port add eth1", "--dry-run"), std::pair("balance", "--measure=eth1"),
          std::pair("balance freeze", "--json")})
        EXPECT_EQ(2, ask(team, line, {option}).status) << line << " " << option;
}

} // namespace
} // namespace teamo::test
