// SPDX-License-Identifier: LGPL-2.1-or-later
#include "unit/ctl/support.h"
#include "json/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace teamo::ctl {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

/// "error eth2", for what is wrong and where.
std::vector<std::string> seen(const Findings& findings) {
    std::vector<std::string> list;
    for (const auto& finding : findings)
        list.push_back(fmt::format("{} {}", name_of(finding.severity), finding.where));
    return list;
}

std::vector<std::string> seen(const Readings& readings) { return seen(all_findings(readings)); }

TEST(Findings, are_none_of_a_team_in_good_health) {
    EXPECT_THAT(seen(good_readings()), IsEmpty());
    EXPECT_EQ(text_of("team0", std::vector<Finding>{}), "team0: nothing is wrong\n");
}

TEST(Findings, come_worst_first_and_each_with_what_mends_it) {
    auto readings = good_readings();
    readings.state.balance->config.on = readings.state.balance->frozen = true;
    readings.devices["eth1"].features.active.clear();
    readings.devices["eth1"].features.active.insert("tx-checksum");
    readings.devices["eth3"].mtu = 1400;
    const auto findings = all_findings(readings);
    EXPECT_THAT(seen(findings), ElementsAre("error eth3", "warning eth1", "note team0"));
    EXPECT_EQ(text_of("team0", findings),
              "error: eth3: its MTU is 1400, that of team0 is 1500\n"
              "    ip link set eth3 mtu 1500\n"
              "warning: eth1: TSO is off: what leaves by it is cut by the CPU\n"
              "    ethtool -K eth1 tso on\n"
              "note: team0: balancing is frozen: no bucket is moved for its load\n"
              "    teamoctl team0 balance thaw\n");
}

TEST(Findings, name_a_team_that_carries_nothing_and_one_that_hangs_by_a_port) {
    auto readings = good_readings(2);
    for (auto& port : readings.state.ports)
        port.transmits = port.link_up = port.link.up = false;
    EXPECT_THAT(seen(readings), ElementsAre("error team0", "warning eth1", "warning eth2"));
    auto& back = readings.state.ports[0];
    back.transmits = back.link_up = back.link.up = true;
    EXPECT_THAT(seen(readings), ElementsAre("warning team0", "warning eth2"));
    EXPECT_THAT(seen(good_readings(1)), ElementsAre("note team0"));
    readings.state.ports.clear();
    EXPECT_THAT(seen(readings), ElementsAre("error team0"));
}

TEST(Findings, take_the_backups_of_active_backup_for_what_they_are) {
    auto readings = good_readings(2);
    readings.state.runner = "activebackup";
    readings.state.balance.reset();
    readings.state.ports[1].transmits = readings.state.ports[1].receives = false;
    readings.state.ports[1].counters.rx_dropped = 100;
    EXPECT_THAT(seen(readings), IsEmpty());
}

TEST(Findings, tell_a_port_that_is_set_down_from_one_without_a_cable_and_one_that_is_watched_down) {
    auto readings = good_readings(3);
    readings.devices["eth1"].up = false;
    readings.state.ports[0].link.up = readings.state.ports[0].link_up = readings.state.ports[0].transmits =
        false;
    EXPECT_THAT(all_findings(readings), ElementsAre(Field(&Finding::fix, "ip link set eth1 up")));
    readings.devices["eth1"].up = true;
    EXPECT_THAT(all_findings(readings), ElementsAre(Field(&Finding::fix, "ethtool eth1")));
    readings.state.ports[0].link.up = true;
    EXPECT_THAT(all_findings(readings), ElementsAre(Field(&Finding::fix, "teamoctl -v team0 state")));
}

TEST(Findings, have_a_missing_speed_matter_where_loads_are_placed_by_it) {
    auto readings = good_readings();
    readings.state.ports[1].link.speed.reset();
    EXPECT_THAT(seen(readings), ElementsAre("note eth2"));
    readings.state.balance->config.on = true;
    EXPECT_THAT(seen(readings), ElementsAre("warning eth2"));
}

TEST(Findings, leave_a_larger_mtu_at_a_warning) {
    auto readings = good_readings();
    readings.devices["eth2"].mtu = 9000;
    EXPECT_THAT(seen(readings), ElementsAre("warning eth2"));
}

TEST(Findings, say_nothing_of_tso_that_the_configuration_has_off) {
    auto readings = good_readings();
    readings.devices["eth2"].features.active = {"rx-gro"};
    EXPECT_THAT(seen(readings), ElementsAre("warning eth2"));
    for (const auto* text : {R"({"ports": {"eth2": {"offload": {"tx-tcp-segmentation": "off"}}}})",
                             R"({"ports": {"eth2": {"offload": {"tso": "off"}}}})",
                             R"({"offload": {"tx-tcp-segmentation": "off"}})"}) {
        readings.configuration = *json::parse(text);
        EXPECT_THAT(seen(readings), IsEmpty()) << text;
    }
    readings.configuration = *json::parse(R"({"offload": {"tx-tcp-segmentation": "off"},
                         "ports": {"eth2": {"offload": {"tx-tcp-segmentation": "keep"}}}})");
    EXPECT_THAT(seen(readings), ElementsAre("warning eth2"));
}

TEST(Findings, note_a_device_that_cannot_segment) {
    auto readings = good_readings();
    readings.devices["eth2"].features = {.active = {"rx-gro"}, .wanted = {}, .changeable = {}};
    readings.devices["team0"].features = readings.devices["eth2"].features;
    EXPECT_THAT(seen(readings), ElementsAre("note team0", "note eth2"));
}

TEST(Findings, name_the_fullest_port_where_nobody_balances) {
    auto readings = good_readings();
    readings.rates["eth3"] = 100e6; // of 250e6: 1.6 times the mean
    EXPECT_THAT(
        all_findings(readings),
        ElementsAre(AllOf(Field(&Finding::where, "eth3"), Field(&Finding::severity, Severity::warning),
                          Field(&Finding::what, HasSubstr("1.60 times its share")),
                          Field(&Finding::fix, HasSubstr("tx_balancer")))));
    readings.state.balance->config.on = true;
    EXPECT_THAT(seen(readings), IsEmpty()) << "somebody sees to it";
    readings.state.balance->frozen = true;
    EXPECT_THAT(seen(readings), ElementsAre("warning eth3", "note team0"));
    readings.state.balance->config.on = false;
    readings.state.balance->frozen = false;
    for (auto& entry : readings.rates)
        entry.second /= 20;
    EXPECT_THAT(seen(readings), IsEmpty()) << "too little to matter";
}

TEST(Findings, measure_fullness_by_speed) {
    auto readings = good_readings(2);
    readings.state.ports[0].link.speed = 3000;
    readings.rates = {{"eth1", 150e6}, {"eth2", 50e6}};
    EXPECT_THAT(seen(readings), IsEmpty());
    readings.rates = {{"eth1", 100e6}, {"eth2", 100e6}};
    EXPECT_THAT(seen(readings), ElementsAre("warning eth2"));
}

TEST(Findings, count_moves_that_were_forced_but_not_by_hand) {
    auto readings = good_readings();
    readings.state.balance->moves = {
        {.bucket = 1, .from = "eth1", .to = "eth2", .end = MoveEnd::in_gap},
        {.bucket = 2, .from = "eth1", .to = "eth2", .reason = MoveReason::by_hand, .end = MoveEnd::forced}};
    EXPECT_THAT(seen(readings), IsEmpty());
    readings.state.balance->moves.push_back(
        {.bucket = 3, .from = "eth1", .to = "eth2", .end = MoveEnd::forced});
    EXPECT_THAT(all_findings(readings),
                ElementsAre(Field(&Finding::what, HasSubstr("1 of the last 2 moves"))));
}

TEST(Findings, name_a_load_that_is_not_known_where_it_is_to_be_balanced) {
    auto readings = good_readings();
    readings.state.balance->counted = false;
    EXPECT_THAT(seen(readings), IsEmpty());
    readings.state.balance->config.on = true;
    EXPECT_THAT(seen(readings), ElementsAre("warning team0"));
}

TEST(Findings, name_drops_of_this_second_and_not_of_the_past) {
    auto readings = good_readings();
    readings.before.ports[0].counters.rx_dropped = readings.state.ports[0].counters.rx_dropped = 100;
    EXPECT_THAT(seen(readings), IsEmpty());
    readings.state.ports[0].counters.rx_dropped = 107;
    readings.devices["eth2"].queue_dropped = 1;
    EXPECT_THAT(all_findings(readings),
                ElementsAre(Field(&Finding::what, HasSubstr("7 packets in a second arrived")),
                            Field(&Finding::what, HasSubstr("dropped 1 packet in"))));
}

Trial trial(std::initializer_list<double> with, std::initializer_list<double> without) {
    Trial trial{.port = "eth1", .rounds = {}};
    for (const auto bytes : with)
        trial.rounds.push_back({.tso = true, .bytes = bytes, .cpu_per_kib = 1});
    for (const auto bytes : without)
        trial.rounds.push_back({.tso = false, .bytes = bytes, .cpu_per_kib = 2.5});
    return trial;
}

TEST(Findings, name_a_port_that_does_better_without_tso) {
    auto readings = good_readings();
    // One round of either kind is not counted: what was stuck when TSO was switched.
    readings.trials = {trial({100, 101, 99, 100, 101, 99, 140}, {107, 108, 106, 107, 106, 108, 3})};
    EXPECT_EQ(
        text_of("team0", all_findings(readings)),
        "warning: eth1: sends 7.0 % more without TSO (measured, 7 rounds), at 2.50 instead of 1.00 µs of "
        "CPU time per KiB\n"
        "    in the configuration: \"ports\": {\"eth1\": {\"offload\": {\"tx-tcp-segmentation\": "
        "\"off\"}}}\n");
}

TEST(Findings, take_nothing_for_a_difference_that_may_be_noise) {
    auto readings = good_readings();
    for (const auto& same : {
             trial({100, 101, 99, 100, 101, 99, 100}, {101, 100, 99, 100, 99, 101, 100}),
             // further apart than 2 %, and no round like one of the other kind, but nearer than those of a
             // kind
             trial({90, 92, 100, 100, 100, 100, 101}, {101, 107, 107, 107, 107, 107, 108}),
             // further apart than those of a kind, but some are like those of the other
             trial({99, 100, 100, 100, 115, 130, 131}, {110, 115, 120, 140, 140, 140, 141}),
             trial({100, 100, 100, 100, 100, 100, 100}, {101, 101, 101, 101, 101, 101, 101}),
             trial({100, 100, 100, 100, 100, 100}, {110, 110, 110, 110, 110, 110, 110}),
             trial({110, 110, 110, 110, 110, 110, 110}, {100, 100, 100, 100, 100, 100, 100}),
             trial({0, 0, 0, 0, 0, 0, 0}, {1, 1, 1, 1, 1, 1, 1}),
         }) {
        readings.trials = {same};
        EXPECT_THAT(seen(readings), ElementsAre("note eth1"));
    }
}

TEST(Findings, say_what_a_measurement_is_worth_that_found_nothing) {
    auto readings = good_readings();
    const auto found = [&](double with, double without, double one_without) {
        readings.trials = {trial({}, {})};
        auto& rounds = readings.trials[0].rounds;
        for (std::size_t number = 0; number < rounds_of_either; ++number) {
            rounds.push_back({.tso = true, .bytes = 125e3 * with, .cpu_per_kib = 1});
            rounds.push_back({.tso = false, .bytes = 125e3 * (number < 2 ? one_without : without)});
        }
        return all_findings(readings).at(0);
    };
    const std::string again = "to be sure, when it is nearly full: teamoctl team0 doctor --measure=eth1";
    EXPECT_EQ(found(900, 900, 900),
              (Finding{Severity::note, "eth1",
                       "does not send more without TSO (measured, 7 rounds): 900 Mbit/s with it, 900 Mbit/s "
                       "without",
                       "leave TSO on"}));
    EXPECT_EQ(found(100, 100, 100).fix, again);
    const auto unclear = found(900, 950, 800);
    EXPECT_THAT(unclear.what, AllOf(HasSubstr("may send more without TSO"), HasSubstr("differ as much")));
    EXPECT_EQ(unclear.fix, again);
    EXPECT_THAT(found(0, 0, 0).what, HasSubstr("nothing was sent"));
}

TEST(Measurements, are_made_of_ports_with_tso_near_saturation) {
    auto readings = good_readings();
    EXPECT_THAT(ports_to_measure(readings), IsEmpty());
    readings.rates["eth2"] = readings.rates["eth3"] = readings.rates["eth4"] = 101e6; // of 125e6
    EXPECT_THAT(ports_to_measure(readings), ElementsAre("eth2", "eth3", "eth4"));
    readings.devices["eth2"].features.active.clear();
    readings.state.ports[2].link.speed = 10000;
    EXPECT_THAT(ports_to_measure(readings), ElementsAre("eth4"));
    readings.state.ports[3].transmits = false;
    EXPECT_THAT(ports_to_measure(readings), IsEmpty());
}

TEST(Rounds, count_what_is_sent_without_its_headers) {
    // Ten segments on the wire, or one GSO packet: 10 * 1448 bytes either way.
    const PortCounters none, wire{.tx_packets = 10, .tx_bytes = 15140},
        whole{.tx_packets = 1, .tx_bytes = 14546};
    EXPECT_EQ(payload_between(none, wire), 14480);
    EXPECT_EQ(payload_between(none, whole), 14480);
    EXPECT_EQ(payload_between(whole, none), 0);
    const auto round = round_of(true, 2048, std::chrono::milliseconds(500), std::chrono::microseconds(10));
    EXPECT_EQ(round, (Round{.tso = true, .bytes = 4096, .cpu_per_kib = 5}));
}

} // namespace
} // namespace teamo::ctl
