// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A port that loses its link once a second, with and without damping: packets lost and changes of the active
// port.
#include "netns/configs.h"
#include "support/figure.h"
#include "support/traffic/traffic.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <thread>

namespace teamo::test {
namespace {

constexpr unsigned flap_rate = 10'000;

struct Cost {
    std::uint64_t lost_out = 0, lost_in = 0;
    std::size_t moves = 0; ///< of the active port
};

/// Half a second without a link, half a second with one.
Cost flapping(std::string_view watch, int seconds) {
    const Cabling wires(2, FarSide::learning_switch);
    const TeamUnderTest team(team_config(activebackup, R"({"eth1": {"prio": 100}, "eth2": {}})", watch));
    bring_up(wires, team);
    Stream out({.from = &wires.host(), .to = &wires.client(), .address = client_v4, .rate = flap_rate});
    Stream in({.from = &wires.client(), .to = &wires.host(), .address = team_v4, .rate = flap_rate});
    const auto before = lines_with(team.log(), "active port ");
    auto next = SteadyClock::now();
    for (int second = 0; second < seconds; ++second) {
        wires.pull(1);
        std::this_thread::sleep_until(next += 500ms);
        wires.plug(1);
        std::this_thread::sleep_until(next += 500ms);
    }
    out.stop();
    in.stop();
    return {.lost_out = out.tally().lost,
            .lost_in = in.tally().lost,
            .moves = lines_with(team.log(), "active port ") - before};
}

constexpr Rounds flap_seconds{.shown = 4, .measured = 60};

void report(const Cost& cost) {
    fmt::print(
        "{} s of flaps: {} packets lost out, {} in, at {}/s each way; the active port changed {} times\n",
        rounds(flap_seconds), cost.lost_out, cost.lost_in, flap_rate, cost.moves);
}

TEST(Flap, costs_packets_only_until_it_is_damped) {
    const auto cost = flapping(R"("link_watch": {"name": "ethtool", "damping": {}}, )", rounds(flap_seconds));
    report(cost);
    EXPECT_LE(cost.moves, 5U) << "away three times, and back twice";
    EXPECT_TRUE(at_most("lost", static_cast<double>(cost.lost_out + cost.lost_in),
                        {.promised = 150, .defect = 30'000}));
}

TEST(Flap, costs_packets_each_time_without_damping) {
    const auto cost = flapping("", rounds(flap_seconds));
    report(cost);
    EXPECT_TRUE(at_least(
        "changes", static_cast<double>(cost.moves),
        {.promised = static_cast<double>(rounds(flap_seconds)), .defect = 0.6 * rounds(flap_seconds)}));
}

} // namespace
} // namespace teamo::test
