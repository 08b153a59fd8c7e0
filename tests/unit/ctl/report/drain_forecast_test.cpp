// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/report/drain_forecast.h"

#include "unit/ctl/support.h"
#include "json/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace teamo::ctl {
namespace {

DrainForecast forecast_of(const TeamState& state, const Rates& rates, bool forced = false) {
    return drain_forecast_of(state, *find_port(state, "eth1"), rates, forced);
}

/// Each port sends 40 MB/s, 320 Mbit/s, of its 125.
TeamState loaded_team(unsigned ports) {
    auto state = good_team(ports);
    for (auto& load : state.balance->loads)
        load = {.bytes = 40e6 * ports / bucket_count, .packets = 1000};
    return state;
}

TEST(DrainForecast, gives_the_load_of_each_bucket_to_its_next_port) {
    const auto state = loaded_team(3);
    const auto found = forecast_of(state, {{"eth1", 40e6}, {"eth2", 40e6}, {"eth3", 40e6}});
    EXPECT_EQ(objection_of(found), std::nullopt);
    EXPECT_EQ(text_of(found), "without eth1, which sends 320 Mbit/s (nothing is changed):\n"
                              "port       sends  would send        speed    full\n"
                              "eth2  320 Mbit/s  480 Mbit/s  1000 Mbit/s  48.0 %\n"
                              "eth3  320 Mbit/s  480 Mbit/s  1000 Mbit/s  48.0 %\n");
    EXPECT_EQ(json::child(json_of("team0", found), "reason"), json::Value());
}

TEST(DrainForecast, names_who_would_have_too_much) {
    auto state = loaded_team(3);
    state.ports[2].link.speed = 100;
    auto found = forecast_of(state, {});
    EXPECT_EQ(objection_of(found), "too much for eth3");
    state.balance->config.on = true; // it places by speed
    for (auto& load : state.balance->loads)
        load.bytes /= 2;
    found = forecast_of(state, {});
    EXPECT_EQ(objection_of(found), std::nullopt) << text_of(found);
}

TEST(DrainForecast, counts_no_port_that_is_drained_itself) {
    auto state = loaded_team(2);
    state.ports[1].drain.phase = DrainPhase::moving;
    EXPECT_EQ(objection_of(forecast_of(state, {})), "no other port carries");
}

TEST(DrainForecast, counts_on_a_drained_port_only_beside_one_that_is_drained_by_force) {
    auto state = loaded_team(3);
    for (auto& port : state.ports)
        port.drain.phase = port.name == "eth1" ? DrainPhase::none : DrainPhase::drained;
    state.ports[1].transmits = state.ports[2].transmits = false;
    state.ports[2].drain.forced = true;
    EXPECT_EQ(objection_of(forecast_of(state, {})), "no other port carries");
    const auto found = forecast_of(state, {}, /*forced=*/true);
    ASSERT_EQ(1U, found.others.size());
    EXPECT_EQ("eth2", found.others[0].port) << "it is drained, but not by force";
    EXPECT_EQ(objection_of(found), std::nullopt);
    state.ports[1].drain.forced = true;
    EXPECT_EQ(objection_of(forecast_of(state, {}, /*forced=*/true)), "no other port carries");
}

TEST(DrainForecast, says_if_the_team_would_lose_its_carrier) {
    auto state = loaded_team(3);
    state.min_ports = 2;
    EXPECT_EQ(objection_of(forecast_of(state, {})), std::nullopt);
    state.ports[2].transmits = false; // it lacks an offload: it stands by, and can carry
    EXPECT_EQ(objection_of(forecast_of(state, {})), std::nullopt);
    state.min_ports = 3;
    EXPECT_EQ(objection_of(forecast_of(state, {})),
              "only 2 would be left, and runner.min_ports is 3: the team would have no carrier");
    state.min_ports = 2;
    state.ports[2].drain.phase = DrainPhase::drained;
    EXPECT_EQ(objection_of(forecast_of(state, {})),
              "only 1 would be left, and runner.min_ports is 2: the team would have no carrier");
}

TEST(DrainForecast, counts_with_lacp_only_ports_of_the_same_aggregator) {
    auto state = loaded_team(3);
    state.runner = "lacp";
    state.min_ports = 2;
    for (auto& port : state.ports)
        port.lacp.emplace().state = "current";
    EXPECT_EQ(objection_of(forecast_of(state, {})), std::nullopt);
    auto& other = state.ports[2];
    other.transmits = false;
    EXPECT_EQ(objection_of(forecast_of(state, {})), std::nullopt) << "it stands by";
    other.receives = false;
    EXPECT_EQ(objection_of(forecast_of(state, {})),
              "only 1 would be left, and runner.min_ports is 2: the team would have no carrier");
}

TEST(DrainForecast, shares_the_load_by_the_weights) {
    auto state = loaded_team(3);
    state.ports[1].weight = 3;
    // Of eth1 half, of eth2 three eighths, of eth3 an eighth of the buckets.
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
        state.balance->leaves_by[bucket] = bucket % 2 == 0 ? "eth1" : bucket % 8 == 1 ? "eth3" : "eth2";
    for (const bool on : {false, true}) {
        state.balance->config.on = on;
        const auto found = forecast_of(state, {});
        ASSERT_EQ(2U, found.others.size());
        EXPECT_NEAR(found.others[0].then, 90e6, 2e6) << on;
        EXPECT_NEAR(found.others[1].then, 30e6, 2e6) << on;
    }
    state.balance->counted = false;
    const Rates rates{{"eth1", 60e6}, {"eth2", 40e6}, {"eth3", 20e6}};
    auto found = forecast_of(state, rates);
    EXPECT_EQ(90e6, found.others[0].then);
    EXPECT_EQ(30e6, found.others[1].then);
    state.balance->tx_hash = HashFields{} | HashField::cpu; // the sending CPU decides
    found = forecast_of(state, rates);
    EXPECT_EQ(60e6, found.others[0].then);
}

TEST(DrainForecast, takes_the_worst_case_without_buckets) {
    auto state = good_team(3);
    state.balance.reset();
    state.runner = "activebackup";
    for (auto& port : state.ports)
        port.transmits = port.name == "eth1";
    auto found = forecast_of(state, {{"eth1", 80e6}, {"eth2", 0}, {"eth3", 0}});
    ASSERT_EQ(2U, found.others.size());
    EXPECT_EQ(80e6, found.others[0].then);
    state.runner = "random";
    for (auto& port : state.ports)
        port.transmits = true;
    found = forecast_of(state, {{"eth1", 80e6}, {"eth2", 80e6}, {"eth3", 80e6}});
    EXPECT_EQ(120e6, found.others[1].then);
    EXPECT_EQ(objection_of(found), std::nullopt);
}

} // namespace
} // namespace teamo::ctl
