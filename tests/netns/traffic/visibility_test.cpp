// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the usual tools show of a team.
//
// lab: Visibility.* by bpf, 40 s, long
#include "netns/configs.h"
#include "support/daemon/process.h"
#include "support/daemon/team_under_test.h"
#include "support/figure.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

using testing::AllOf;
using testing::Ge;
using testing::Le;

TEST(Visibility, device_counts_both_directions) {
    const Cabling wires(2, FarSide::lag_switch);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    ASSERT_TRUE(reaches(wires.host(), client_v4));
    const auto before = counters(wires.host(), "team0");
    std::uint64_t sent_out = 0, sent_in = 0, most_out = 0, most_in = 0;
    constexpr std::size_t payload = 958, on_the_wire = 1000; // and 42 bytes of headers
    {
        Stream out({.from = &wires.host(), .to = &wires.client(), .address = client_v4, .size = payload});
        Stream in({.from = &wires.client(), .to = &wires.host(), .address = team_v4, .size = payload});
        EXPECT_TRUE(out.flows(2'000) && in.flows(2'000));
        out.stop();
        in.stop();
        sent_out = out.next();
        sent_in = in.next();
        constexpr std::uint64_t others = 100; // other packets, such as neighbour discovery
        most_out = sent_out + out.probes() + others;
        most_in = sent_in + in.probes() + others;
    }
    const auto passed = counters(wires.host(), "team0") - before;
    EXPECT_THAT(passed.tx_packets, AllOf(Ge(sent_out), Le(most_out)));
    EXPECT_THAT(passed.rx_packets, AllOf(Ge(sent_in), Le(most_in)));
    EXPECT_THAT(passed.tx_bytes, AllOf(Ge(sent_out * on_the_wire), Le(most_out * on_the_wire)));
    // On receive the driver does not count the Ethernet header.
    const auto received = on_the_wire - (by_driver(wires) ? 14 : 0);
    EXPECT_THAT(passed.rx_bytes, AllOf(Ge(sent_in * received), Le(most_in * on_the_wire)));
    EXPECT_EQ(0U, passed.tx_dropped + passed.rx_dropped);
}

std::size_t count_lines(const std::string& text, std::string_view words) {
    std::size_t count = 0;
    for (auto at = text.find(words); at != std::string::npos; at = text.find(words, at + 1))
        ++count;
    return count;
}

TEST(Visibility, tcpdump_sees_both_directions_once) {
    const Cabling wires(4, FarSide::lag_switch);
    const TeamUnderTest team(loadbalance(4));
    bring_up(wires, team);
    ASSERT_TRUE(reaches(wires.host(), client_v4));
    auto tcpdump =
        Process::start({.argv = {"tcpdump", "-i", "team0", "-nn", "-l", "icmp"}, .in = &wires.host()});
    ASSERT_TRUE(eventually("tcpdump listens",
                           [&] { return tcpdump.err().find("listening on") != std::string::npos; }));
    constexpr std::size_t echoes = 20;
    for (std::size_t count = 0; count < echoes; ++count)
        EXPECT_TRUE(answers_echo(wires.host(), client_v4));
    const auto all = [&] {
        return count_lines(tcpdump.out(), "10.0.0.2 > 10.0.0.1: ICMP echo reply") == echoes;
    };
    EXPECT_TRUE(eventually("every answer seen", all));
    EXPECT_EQ(echoes, count_lines(tcpdump.out(), "10.0.0.1 > 10.0.0.2: ICMP echo request"));
    EXPECT_EQ(2 * echoes, count_lines(tcpdump.out(), "ICMP")) << tcpdump.out();
}

TEST(Visibility, large_packets_reach_the_port) {
    const Cabling wires(4, FarSide::lag_switch);
    const TeamUnderTest team(loadbalance(4));
    bring_up(wires, team);
    ASSERT_TRUE(reaches(wires.host(), client_v4));
    Counters before, after;
    const auto sum = [&](Counters& all) {
        for (unsigned number = 1; number <= 4; ++number) {
            const auto one = counters(wires.host(), Cabling::port(number));
            all.tx_bytes += one.tx_bytes;
            all.tx_packets += one.tx_packets;
        }
    };
    sum(before);
    constexpr std::size_t much = std::size_t{200} << 20;
    ASSERT_TRUE(carries_tcp(wires.host(), wires.client(), client_v4, much));
    sum(after);
    const auto passed = after - before;
    const auto per_packet = passed.tx_bytes / passed.tx_packets;
    fmt::print("{} bytes per transmitted skb\n", per_packet);
    testing::Test::RecordProperty("bytes_per_skb", static_cast<int>(per_packet));
    EXPECT_GE(passed.tx_bytes, much);
    EXPECT_TRUE(at_least("bytes of a packet", static_cast<double>(per_packet),
                         {.promised = 20'000, .defect = 4'000}));
}

} // namespace
} // namespace teamo::test
