// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Packets lost by kill -9 and a new start at a high rate, beside what this machine loses without a restart.
//
// lab: Restart.* by team on 6.12, 60 s, compare
// lab: Restart.* by bond on 6.12, 60 s, compare
#include "netns/configs.h"
#include "netns/link_monitor.h"
#include "support/figure.h"
#include "support/net/network_lock.h"
#include "support/traffic/traffic.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <thread>

namespace teamo::test {
namespace {

/// Packets a second, each way.
constexpr unsigned packet_rate = 50'000;
/// An emulated CPU passes 10,000 skbs a second each way, so there each carries five packets.
const unsigned per_skb = emulated() ? 5 : 1;

struct Round {
    std::uint64_t lost = 0;
    std::chrono::microseconds silence{0};
};

/// Both directions during `change` and 200 ms after it.
Round during(const Stream& out, const Stream& in, const std::function<void()>& change) {
    const auto first_out = out.next(), first_in = in.next();
    change();
    EXPECT_TRUE(out.flows(packet_rate / 5) && in.flows(packet_rate / 5));
    const auto one = out.tally(first_out, out.next() - packet_rate / 50),
               other = in.tally(first_in, in.next() - packet_rate / 50);
    return {one.lost + other.lost, std::max(one.silence, other.silence)};
}

void report(std::string_view what, const std::vector<Round>& list) {
    std::vector<std::uint64_t> lost;
    std::chrono::microseconds silence{0};
    for (const auto& round : list) {
        lost.push_back(round.lost);
        silence = std::max(silence, round.silence);
    }
    fmt::print("{}: {} packets lost, longest silence {} ms\n", what, fmt::join(lost, " "),
               static_cast<double>(silence.count()) / 1000);
}

TEST(Restart, loses_no_packet) {
    const Cabling wires(4, FarSide::lag_switch);
    TeamUnderTest team(loadbalance(4));
    bring_up(wires, team);
    Stream out({.from = &wires.host(),
                .to = &wires.client(),
                .address = client_v4,
                .rate = packet_rate,
                .per_skb = per_skb});
    Stream in({.from = &wires.client(),
               .to = &wires.host(),
               .address = team_v4,
               .rate = packet_rate,
               .per_skb = per_skb});
    std::vector<Round> restarts, idle;
    LinkMonitor monitor(wires.host());
    for (int round = 0; round < rounds({.shown = 2, .measured = 20}); ++round) {
        idle.push_back(during(out, in, [] { std::this_thread::sleep_for(100ms); }));
        restarts.push_back(during(out, in, [&team] {
            team.kill();
            team.start();
        }));
    }
    report("without a restart", idle);
    report("restarts", restarts);
    EXPECT_EQ("", monitor.losses());
    const auto most = [](const std::vector<Round>& list) {
        return static_cast<double>(std::ranges::max(list, {}, &Round::lost).lost);
    };
    // The worst one: no restart may lose a packet. A millisecond without a port loses as many as the bound.
    EXPECT_TRUE(at_most("packets lost by the worst restart", most(restarts),
                        {.promised = 0, .defect = 2 * packet_rate / 1'000.0 + 2 * most(idle)}));
}

} // namespace
} // namespace teamo::test
