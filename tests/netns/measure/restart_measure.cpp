// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Packets lost by kill -9 and a new start at a high rate, beside what this machine loses without a restart.
#include "netns/configs.h"
#include "support/figure.h"
#include "support/net/network_lock.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>

#include <numeric>
#include <thread>

namespace teamo::test {
namespace {

constexpr unsigned rate = 50'000;

struct Round {
    std::uint64_t lost = 0;
    std::chrono::microseconds silence{0};
};

/// Both directions during `change` and 200 ms after it.
Round during(const Stream& out, const Stream& in, const std::function<void()>& change) {
    const auto first_out = out.next(), first_in = in.next();
    change();
    EXPECT_TRUE(out.flows(rate / 5) && in.flows(rate / 5));
    const auto one = out.tally(first_out, out.next() - rate / 50),
               other = in.tally(first_in, in.next() - rate / 50);
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

TEST(Restart, loses_no_packet_at_50000_per_second) {
    const Cabling wires(4, FarSide::lag_switch);
    TeamUnderTest team(loadbalance(4));
    bring_up(wires, team);
    Stream out({.from = &wires.host(), .to = &wires.client(), .address = client_v4, .rate = rate});
    Stream in({.from = &wires.client(), .to = &wires.host(), .address = team_v4, .rate = rate});
    std::vector<Round> restarts, idle;
    const auto monitor = Process::start({.argv = {"ip", "-o", "monitor", "link"}, .in = &wires.host()});
    for (int round = 0; round < rounds({.shown = 4, .measured = 20}); ++round) {
        idle.push_back(during(out, in, [] { std::this_thread::sleep_for(100ms); }));
        restarts.push_back(during(out, in, [&team] {
            team.kill();
            team.start();
        }));
    }
    report("without a restart", idle);
    report("restarts", restarts);
    wires.host().ip("link set lo mtu 60000");
    EXPECT_TRUE(eventually("the monitor has seen all",
                           [&] { return monitor.out().find("mtu 60000") != std::string::npos; }));
    EXPECT_THAT(monitor.out(), testing::Not(testing::HasSubstr("state DOWN")));
    EXPECT_THAT(monitor.out(), testing::Not(testing::HasSubstr("Deleted")));
    std::vector<std::uint64_t> lost;
    for (const auto& round : restarts)
        lost.push_back(round.lost);
    EXPECT_TRUE(
        at_most("median of packets lost by a restart", median(lost), {.promised = 0, .defect = 2'000}));
}

} // namespace
} // namespace teamo::test
