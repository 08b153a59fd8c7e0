// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A team forwards packets of every kind in both directions.
//
// lab: Forwarding.* by team, 25 s
// lab: Forwarding.* by bpf on 6.1, 18 s, long
// lab: Forwarding.* by bond on newest, 12 s
// lab: Forwarding.* by bond on 6.1, 12 s, long
// lab: */Forwarding.* by bpf, 60 s, long
#include "netns/configs.h"
#include "support/daemon/team_under_test.h"
#include "support/net/far_ends.h"
#include "support/net/links.h"
#include "support/net/socket_address.h"
#include "support/traffic/frames.h"
#include "support/traffic/packet_socket.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

class Forwarding : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Ports, Forwarding, testing::Values(2, 3, 4, 8), testing::PrintToStringParamName());

TEST_P(Forwarding, passes_icmp_udp_and_tcp) {
    const Cabling wires(GetParam(), FarSide::lag_switch);
    const TeamUnderTest team(loadbalance(GetParam()));
    bring_up(wires, team);
    for (const auto* address : {client_v4, client_v6}) {
        EXPECT_TRUE(reaches(wires.host(), address));
        EXPECT_TRUE(carries_tcp(wires.host(), wires.client(), address, 4'000'000)) << address;
        Stream stream({.from = &wires.host(), .to = &wires.client(), .address = address, .rate = 5'000});
        EXPECT_TRUE(stream.flows(500));
        stream.stop();
        EXPECT_EQ(0U, stream.tally().lost + stream.tally().duplicated) << text_of(stream.tally());
    }
    for (const auto* address : {team_v4, team_v6}) {
        EXPECT_TRUE(reaches(wires.client(), address));
        EXPECT_TRUE(carries_tcp(wires.client(), wires.host(), address, 4'000'000)) << address;
        Stream stream({.from = &wires.client(), .to = &wires.host(), .address = address, .rate = 5'000});
        EXPECT_TRUE(stream.flows(500));
        stream.stop();
        EXPECT_EQ(0U, stream.tally().lost + stream.tally().duplicated) << text_of(stream.tally());
    }
}

TEST_P(Forwarding, delivers_every_frame_once) {
    const Cabling wires(GetParam(), FarSide::open);
    const TeamUnderTest team(loadbalance(GetParam()));
    bring_up(wires, team);
    const auto own = mac(look(wires.host(), "team0").address);
    const PacketSocket arrivals(wires.host(), "team0", ether_experiment);
    for (unsigned number = 1; number <= GetParam(); ++number) {
        const PacketSocket far(wires.peer(), Cabling::far_end(number));
        for (const auto& to : {own, mac("ff:ff:ff:ff:ff:ff"), mac("33:33:00:00:00:01")})
            far.send(ethernet(to, mac("02:00:00:00:00:02"), ether_experiment, Cabling::far_end(number)));
        const auto seen = arrivals.drain(3);
        ASSERT_EQ(3U, seen.size()) << "by " << Cabling::port(number);
        for (const auto& frame : seen)
            EXPECT_TRUE(from_offset(frame.frame, 14).starts_with(Cabling::far_end(number)));
    }
}

/// Sends a datagram to a multicast group; returns whether it arrived.
bool carries_group(const NetNs& from, std::string_view device_from, const NetNs& to,
                   std::string_view device_to) {
    const SocketAddress group("239.1.2.3", 5003);
    const auto receiver = socket_in(to, AF_INET, SOCK_DGRAM);
    const auto sender = socket_in(from, AF_INET, SOCK_DGRAM);
    const auto by = [](const NetNs& in, std::string_view device) {
        ip_mreqn membership{};
        membership.imr_multiaddr.s_addr = inet_addr("239.1.2.3");
        membership.imr_ifindex = static_cast<int>(look(in, device).index);
        return membership;
    };
    const auto joined = by(to, device_to), out = by(from, device_from);
    const timeval patience{.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(receiver.get(), IPPROTO_IP, IP_ADD_MEMBERSHIP, &joined, sizeof joined);
    ::setsockopt(receiver.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(sender.get(), IPPROTO_IP, IP_MULTICAST_IF, &out, sizeof out);
    if (::bind(receiver.get(), group.get(), group.size) < 0) throw SetupError("cannot bind to the group");
    char letter = 'm';
    ::sendto(sender.get(), &letter, 1, 0, group.get(), group.size);
    return ::recv(receiver.get(), &letter, 1, 0) == 1 && ::recv(receiver.get(), &letter, 1, MSG_DONTWAIT) < 0;
}

TEST(Forwarding, passes_multicast_once) {
    const Cabling wires(4, FarSide::lag_switch);
    const TeamUnderTest team(loadbalance(4));
    bring_up(wires, team);
    EXPECT_TRUE(reaches(wires.host(), client_v4));
    EXPECT_TRUE(carries_group(wires.host(), "team0", wires.client(), "client0"));
    EXPECT_TRUE(carries_group(wires.client(), "client0", wires.host(), "team0"));
}

TEST(Forwarding, sends_a_broadcast_by_one_port_only) {
    const Cabling wires(4, FarSide::open);
    const TeamUnderTest team(loadbalance(4));
    bring_up(wires, team);
    const PacketSocket sender(wires.host(), "team0");
    const FarEnds far(wires, ether_experiment);
    sender.send(ethernet(mac("ff:ff:ff:ff:ff:ff"), mac(look(wires.host(), "team0").address), ether_experiment,
                         "all"));
    std::size_t copies = 0;
    for (const auto& frames : far.drain(1))
        copies += frames.size();
    EXPECT_EQ(1U, copies);
}

TEST(Forwarding, ports_get_no_addresses) {
    const Cabling wires(2, FarSide::lag_switch);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    const auto usable = [&] {
        const auto shown = must(wires.host(), "ip -6 addr show dev team0 scope link");
        return shown.find("inet6 fe80::") != std::string::npos &&
               shown.find("tentative") == std::string::npos;
    };
    EXPECT_TRUE(eventually("a link-local address of team0 past duplicate detection", usable));
    EXPECT_EQ("", must(wires.host(), "ip -6 -o addr show dev team0 dadfailed"));
    for (const auto* port : {"eth1", "eth2"})
        EXPECT_EQ("", must(wires.host(), fmt::format("ip -6 -o addr show dev {}", port)));
}

TEST(Forwarding, ports_do_not_answer_arp) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    const FarEnds far(wires);
    const PacketSocket second(wires.peer(), "p2");
    second.send(arp_request(mac("02:00:00:00:00:02"), "10.0.0.9", team_v4));
    std::size_t answers = 0;
    const auto is_answer = [](const Seen& seen) {
        return !seen.outgoing && ethertype_of(seen.frame) == ether_arp && !gratuitous_arp_for(seen.frame) &&
               from_offset(seen.frame, 21).starts_with('\2');
    };
    for (const auto& frames : far.drain(1, is_answer, 200ms))
        answers += frames.size();
    EXPECT_EQ(1U, answers) << "the team answers once, the port not at all";
}

TEST(Forwarding, keeps_two_teams_apart) {
    const Cabling wires(2, FarSide::open);
    const auto alone = [](std::string_view team, std::string_view port) {
        return fmt::format(R"({{"device": "{}", "runner": {}, "ports": {{"{}": {{}}}}}})", team, by_flow,
                           port);
    };
    const TeamUnderTest first(alone("team0", "eth1")), second(alone("team1", "eth2"), {}, "team1");
    wires.host().ip("link set team0 up\nlink set team1 up");
    ASSERT_TRUE(first.await_link("eth1"));
    ASSERT_TRUE(second.await_link("eth2"));
    // With the driver a team has no inner end.
    for (const auto* device : {"team0", "team1", "tmo0", "tmo1"})
        if (exists(wires.host(), device)) await_operation(wires.host(), device);
    await_operation(wires.peer(), "p2");
    const PacketSocket on_first(wires.host(), "team0", ether_experiment),
        on_second(wires.host(), "team1", ether_experiment), far(wires.peer(), "p2");
    far.send(ethernet(mac("ff:ff:ff:ff:ff:ff"), mac("02:00:00:00:00:02"), ether_experiment, "to the second"));
    EXPECT_EQ(1U, on_second.drain(1).size());
    EXPECT_EQ(0U, on_first.drain(0, 0ms).size());
}

} // namespace
} // namespace teamo::test
