// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/money.h"

#include "json/parse.h"

#include <gmock/gmock.h>

namespace teamo::bench {
namespace {

using testing::Optional;

std::string complaint(std::string_view table) {
    const auto prices = prices_from(*json::parse(table));
    return prices ? "" : prices.error().text;
}

TEST(BenchPrices, are_checked) {
    EXPECT_EQ("",
              complaint(R"({"currency": "EUR", "kwh": 0.3, "server": 5000, "weights": {"transmit": 2}})"));
    EXPECT_EQ("prices: unknown key kw", complaint(R"({"kw": 1})"));
    EXPECT_EQ("prices: kwh is a string, not a number", complaint(R"({"kwh": "0.3"})"));
    EXPECT_EQ("prices: pue is 0.5, less than 1", complaint(R"({"pue": 0.5})"));
    EXPECT_EQ("prices: weights has no weight above 0", complaint(R"({"weights": {}})"));
    EXPECT_EQ("prices: weights: up is none of transmit, receive, both",
              complaint(R"({"weights": {"up": 1}})"));
    EXPECT_EQ("prices: not a JSON object", complaint("[]"));
}

/// One of two CPUs for 1 Gbit/s.
Results half_busy(Way way, std::optional<double> joules) {
    const Sample round{.seconds = 1,
                       .sent = way == Way::transmit ? 125e6 : 0,
                       .received = way == Way::transmit ? 0 : 125e6,
                       .cpus = {{0, {.system = 1}}, {1, {.idle = 1}}},
                       .joules = joules};
    return {.machine = {.cpus = 2}, .cases = {{.what = {.way = way}, .rounds = {round}}}};
}

TEST(BenchCost, comes_of_cpu_time_and_the_meter) {
    const Prices prices{.kwh = 0.5, .server = 4'000, .pue = 2, .servers = 10, .hours = 1'000, .years = 5};
    const auto results = half_busy(Way::transmit, 12.5);
    const auto cost = cost_of(results.cases[0], results, prices);
    ASSERT_TRUE(cost);
    EXPECT_DOUBLE_EQ(1, cost->cpus);
    EXPECT_DOUBLE_EQ(20'000, cost->servers);
    // 12.5 J in a second of 1 Gbit/s: 12.5 W for 5,000 h are 62.5 kWh, doubled by the building, for ten
    // servers.
    EXPECT_THAT(cost->kwh, Optional(testing::DoubleNear(1'250, 1e-6)));
    EXPECT_NEAR(20'625, cost->total(), 1e-6);
}

TEST(BenchCost, has_no_energy_without_a_meter) {
    const auto results = half_busy(Way::transmit, std::nullopt);
    EXPECT_FALSE(cost_of(results.cases[0], results, {})->kwh);
    EXPECT_TRUE(cost_of(results.cases[0], results, {.watts_per_cpu = 10})->kwh);
}

TEST(BenchCost, is_weighted_over_the_ways) {
    auto results = half_busy(Way::transmit, std::nullopt);
    auto receive = half_busy(Way::receive, std::nullopt).cases[0];
    receive.rounds[0].cpus[1] = {.system = 1};
    results.cases.push_back(receive);
    Prices prices{.server = 1'000};
    prices.weights = {{Way::transmit, 3}, {Way::receive, 1}, {Way::both, 0}};
    const auto costs = weighted_costs(results, prices);
    ASSERT_EQ(1, costs.size());
    EXPECT_DOUBLE_EQ(1.25, costs[0].cost.cpus);
    EXPECT_DOUBLE_EQ(625, costs[0].cost.total());
}

} // namespace
} // namespace teamo::bench
