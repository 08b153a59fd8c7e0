// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The port that the hash selects for a packet.
//
// lab: Hash.* by team, 15 s, long
// lab: Hash.* by bpf, 40 s, long
#include "netns/configs.h"
#include "support/net/far_ends.h"
#include "support/net/socket_address.h"
#include "support/traffic/frames.h"
#include "support/traffic/packet_socket.h"

#include <gmock/gmock.h>

#include <map>
#include <set>

namespace teamo::test {
namespace {

/// The port of each of these frames, by `key`. A frame that arrived by several ports shows several.
template <class Key>
auto ports_by(const FarEnds& far, std::size_t frames, Key key) {
    std::map<std::decay_t<decltype(key(Bytes{}))>, std::set<unsigned>> ports;
    unsigned number = 0;
    for (const auto& arrived : far.drain(frames)) {
        ++number;
        for (const auto& seen : arrived)
            ports[key(seen.frame)].insert(number);
    }
    return ports;
}

constexpr std::size_t rounds = 3, addresses_each = 64;

/// Sends 64 frames to or from 64 addresses, several times; returns the ports of each address.
std::map<MacAddress, std::set<unsigned>> spread(const Cabling& wires, std::uint32_t step,
                                                bool towards_clients) {
    const PacketSocket team(wires.host(), "team0");
    const FarEnds far(wires, ether_experiment);
    const auto own = mac(look(wires.host(), "team0").address), first = mac("00:16:3e:11:22:00");
    for (std::size_t times = 0; times < rounds; ++times)
        for (std::uint32_t number = 0; number < addresses_each; ++number) {
            const auto client = first + number * step;
            team.send(towards_clients
                          ? ethernet(client, own, ether_experiment, "to a client")
                          : ethernet(mac("00:16:3e:00:00:01"), client, ether_experiment, "of a guest"));
        }
    return ports_by(far, rounds * addresses_each, [&](const Bytes& frame) {
        return towards_clients ? destination_of(frame) : source_of(frame);
    });
}

std::map<unsigned, unsigned> shares(const std::map<MacAddress, std::set<unsigned>>& ports_by_address) {
    std::map<unsigned, unsigned> count;
    for (const auto& [address, ports] : ports_by_address)
        ++count[*ports.begin()];
    return count;
}

class Hash : public testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Step, Hash, testing::Values(1, 2, 4, 3, 16), testing::PrintToStringParamName());

TEST_P(Hash, spreads_addresses_and_keeps_flows) {
    const Cabling wires(4, FarSide::open);
    const TeamUnderTest team(team_config(by_mac, ports_object(4)));
    bring_up(wires, team);
    for (const bool towards_clients : {true, false}) {
        const auto ports_by_address = spread(wires, GetParam(), towards_clients);
        ASSERT_EQ(addresses_each, ports_by_address.size());
        for (const auto& [address, ports] : ports_by_address)
            EXPECT_EQ(1U, ports.size()) << text_of(address);
        for (const auto& [port, addresses] : shares(ports_by_address)) {
            fmt::print("steps of {}, {}: port {} has {} of 64\n", GetParam(),
                       towards_clients ? "destinations" : "sources", port, addresses);
            EXPECT_LE(addresses, 28U) << "1.75 times its share of 16";
        }
    }
}

constexpr std::uint16_t service = 7000;

/// Sends one UDP datagram from each of 256 source ports; returns the team port of each.
std::map<std::uint16_t, unsigned> flows(const Cabling& wires) {
    const PacketSocket team(wires.host(), "team0");
    const FarEnds far(wires, ether_ipv4);
    const auto own = mac(look(wires.host(), "team0").address);
    for (std::uint16_t number = 0; number < 256; ++number)
        team.send(udp4({.to_mac = mac("02:00:00:00:00:02"),
                        .from_mac = own,
                        .to = client_v4,
                        .from = team_v4,
                        .to_port = service,
                        .from_port = static_cast<std::uint16_t>(20000 + number)},
                       "x"));
    std::map<std::uint16_t, unsigned> port_of;
    const auto source_port = [](const Bytes& frame) {
        return static_cast<std::uint16_t>(std::to_integer<unsigned>(frame[34]) << 8 |
                                          std::to_integer<unsigned>(frame[35]));
    };
    for (const auto& [flow, ports] : ports_by(far, 256, source_port))
        port_of[flow] = *ports.begin();
    return port_of;
}

TEST(Hash, moves_only_flows_of_a_lost_port) {
    const Cabling wires(4, FarSide::open);
    const TeamUnderTest team(loadbalance(4));
    bring_up(wires, team);
    const auto before = flows(wires);
    ASSERT_EQ(256U, before.size());
    wires.pull(2);
    ASSERT_TRUE(team.await_link("eth2", false));
    const auto without = flows(wires);
    ASSERT_EQ(256U, without.size());
    std::map<unsigned, unsigned> inherited;
    for (const auto& [flow, port] : before) {
        if (port != 2)
            EXPECT_EQ(port, without.at(flow)) << "flow " << flow << " must not move";
        else
            ++inherited[without.at(flow)];
    }
    for (const unsigned port : {1U, 3U, 4U}) {
        fmt::print("port {} inherits {} flows\n", port, inherited[port]);
        EXPECT_GE(inherited[port], 8U) << "a third of about 64";
    }
    wires.plug(2);
    ASSERT_TRUE(team.await_link("eth2"));
    EXPECT_EQ(before, flows(wires)) << "all return to their owner";
}

TEST(Hash, spreads_connections_between_two_hosts) {
    const Cabling wires(4, FarSide::open);
    const TeamUnderTest team(loadbalance(4));
    bring_up(wires, team);
    std::map<unsigned, unsigned> count;
    for (const auto& [flow, port] : flows(wires))
        ++count[port];
    for (unsigned port = 1; port <= 4; ++port)
        EXPECT_THAT(count[port], testing::AllOf(testing::Ge(32U), testing::Le(112U))) << "port " << port;
}

/// Large datagrams from several sockets. The stack fragments each into six, of up to 1480 (IPv4) or 1448
/// bytes.
constexpr std::size_t cut_datagrams = 16, pieces = 6;
void send_cut_datagrams(const Cabling& wires, const std::string& to) {
    for (std::uint16_t number = 0; number < cut_datagrams; ++number) {
        const SocketAddress target(to, static_cast<std::uint16_t>(service + number));
        const auto socket = socket_in(wires.host(), target.family(), SOCK_DGRAM);
        const std::string large(8000, 'f');
        ::sendto(socket.get(), large.data(), large.size(), 0, target.get(), target.size);
    }
}

TEST(Hash, keeps_fragments_on_one_port) {
    const Cabling wires(4, FarSide::open);
    const TeamUnderTest team(loadbalance(4));
    bring_up(wires, team);
    wires.host().ip(fmt::format("neigh replace {} dev team0 lladdr 02:00:00:00:00:02\n"
                                "neigh replace {} dev team0 lladdr 02:00:00:00:00:02",
                                client_v4, client_v6));
    const FarEnds v4(wires, ether_ipv4), v6(wires, ether_ipv6);
    send_cut_datagrams(wires, client_v4);
    send_cut_datagrams(wires, client_v6);
    const auto ipv4_id = [](const Bytes& frame) { return std::string(from_offset(frame, 18).substr(0, 2)); };
    const auto by_v4 = ports_by(v4, cut_datagrams * pieces, ipv4_id);
    EXPECT_EQ(cut_datagrams, by_v4.size());
    for (const auto& [id, ports] : by_v4)
        EXPECT_EQ(1U, ports.size());
    constexpr std::size_t fragment_id = 14 + 40 + 4;
    const auto ipv6_id = [](const Bytes& frame) {
        const bool is_fragment = from_offset(frame, 20).starts_with(',');
        return is_fragment ? std::string(from_offset(frame, fragment_id).substr(0, 4)) : std::string();
    };
    auto by_v6 = ports_by(v6, cut_datagrams * pieces, ipv6_id);
    by_v6.erase(std::string()); // neighbour discovery and similar
    EXPECT_EQ(cut_datagrams, by_v6.size());
    for (const auto& [id, ports] : by_v6)
        EXPECT_EQ(1U, ports.size());
}

} // namespace
} // namespace teamo::test
