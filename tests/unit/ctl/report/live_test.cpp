// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/report/live.h"

#include "unit/ctl/support.h"
#include "unit/lines.h"
#include "json/fields.h"

#include <gmock/gmock.h>

namespace teamo::ctl {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

Reading reading_after(int seconds, std::uint64_t sent, std::uint64_t received_by_eth1,
                      std::uint64_t received_by_eth2, std::map<unsigned, CpuColumns> cpus) {
    const std::chrono::steady_clock::time_point at{std::chrono::seconds(seconds)};
    Reading reading{good_team(2), {at, std::move(cpus)}, at};
    for (auto& port : reading.state.ports) {
        port.counters.tx_bytes = sent / 2;
        port.counters.tx_packets = sent / 2 / 40'000;
    }
    reading.state.ports[0].counters.rx_bytes = received_by_eth1;
    reading.state.ports[1].counters.rx_bytes = received_by_eth2;
    return reading;
}

/// In two seconds 200 MB sent, 40 MB received; one CPU half busy, the other a quarter with interrupts.
const Reading earlier = reading_after(0, 0, 0, 0, {{0, {}}, {1, {}}});
const Reading later = reading_after(2, 200'000'000, 30'000'000, 10'000'000,
                                    {{0, {.user = 60, .system = 30, .idle = 100, .softirq = 10}},
                                     {1, {.idle = 150, .irq = 20, .softirq = 30}}});

TEST(Live, tells_service_demand_and_efficiency) {
    const auto figures = live_figures(earlier, later);
    EXPECT_DOUBLE_EQ(0.75, figures.busy_cpus);
    EXPECT_DOUBLE_EQ(120e6, figures.team.tx_bytes + figures.team.rx_bytes);
    // 750,000 us of CPU time for 117,187.5 KiB; 960 Mbit/s by 75 % of a CPU
    ASSERT_TRUE(figures.service_demand && figures.efficiency);
    EXPECT_THAT(*figures.service_demand, DoubleNear(6.4, 1e-9));
    EXPECT_THAT(*figures.efficiency, DoubleNear(12.8, 1e-9));
}

TEST(Live, is_busy_where_it_is_not_idle) {
    auto after = later;
    // Bursts shorter than a tick: the samples see a tenth of them. A quarter is stolen.
    after.cpus.cpus = {{0, {.user = 6, .idle = 50, .softirq = 4, .steal = 50}}, {1, {.idle = 150}}};
    const auto figures = live_figures(earlier, after);
    EXPECT_THAT(figures.busy_cpus, DoubleNear(0.75, 1e-9));
    EXPECT_THAT(figures.cpus.at(0).work, DoubleNear(0.3, 1e-9));
    EXPECT_THAT(figures.cpus.at(0).interrupts, DoubleNear(0.2, 1e-9));
    EXPECT_THAT(figures.cpus.at(1).work, DoubleNear(0.25, 1e-9));
}

TEST(Live, shows_shares_of_ports_and_cpus) {
    const auto lines = lines_of(live_text("team0", live_figures(earlier, later)));
    EXPECT_EQ("team0: 2.0 s", lines[0]);
    EXPECT_THAT(lines[2], HasSubstr("eth1  "));
    EXPECT_THAT(lines[2], HasSubstr(" 400.0   50.0 %     40000 ")) << "sent";
    EXPECT_THAT(lines[2], HasSubstr(" 120.0   75.0 % ")) << "received";
    EXPECT_THAT(lines[7], HasSubstr("50 %         5 %  16.7 %"));
    EXPECT_THAT(lines[8], HasSubstr("25 %        25 %  83.3 %"));
    EXPECT_EQ(
        "service demand: 6.40 us of CPU time for a KiB; efficiency: 12.8 Mbit/s for a per cent of a CPU (the "
        "whole machine, other work included)",
        lines[10]);
}

TEST(Live, has_no_mean_size_where_cards_count) {
    auto by_cards = later;
    by_cards.state.counts_by_program = false;
    const auto figures = live_figures(earlier, by_cards);
    EXPECT_THAT(lines_of(live_text("team0", figures))[2], HasSubstr(" 400.0   50.0 %         - "));
    const auto document = live_json("team0", figures);
    EXPECT_EQ(json::Value(), json::child(json::child(document, "total"), "tx_mean_skb_bytes"));
}

TEST(Live, tells_nothing_of_an_idle_team) {
    auto idle = earlier;
    idle.at = later.at;
    idle.cpus = later.cpus;
    const auto figures = live_figures(earlier, idle);
    EXPECT_FALSE(figures.service_demand);
    EXPECT_FALSE(figures.efficiency);
    const auto document = live_json("team0", figures);
    EXPECT_EQ(json::Value(), json::child(document, "service_demand_us_per_kib"));
    EXPECT_EQ(json::Value(), json::child(json::child(document, "total"), "rx_share"));
    EXPECT_THAT(live_text("team0", figures), HasSubstr("too little traffic"));
}

TEST(Live, leaves_out_ports_and_cpus_that_are_new) {
    auto before = earlier;
    before.state.ports.pop_back();
    before.cpus.cpus.erase(1);
    const auto figures = live_figures(before, later);
    EXPECT_EQ(PortRates{}, figures.ports[1].rates);
    EXPECT_EQ(1U, figures.cpus.size());
}

} // namespace
} // namespace teamo::ctl
