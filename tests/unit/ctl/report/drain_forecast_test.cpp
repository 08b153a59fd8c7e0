// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/report/drain_forecast.h"

#include "unit/ctl/support.h"
#include "json/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace teamo::ctl {
namespace {

DrainForecast forecast_of(const TeamState& state, const Rates& rates, const std::string& port = "eth1") {
    return drain_forecast_of(state, *find_port(state, port), rates);
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
