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
using testing::Not;

/// "error eth2" for each finding.
std::vector<std::string> seen(const Findings& findings) {
    std::vector<std::string> list;
    for (const auto& finding : findings)
        list.push_back(fmt::format("{} {}", name_of(finding.severity), finding.where));
    return list;
}

std::vector<std::string> seen(const Readings& readings) { return seen(all_findings(readings)); }

TEST(Findings, are_empty_for_a_healthy_team) {
    EXPECT_THAT(seen(good_readings()), IsEmpty());
    EXPECT_EQ(text_of("team0", std::vector<Finding>{}), "team0: nothing is wrong\n");
}

TEST(Findings, come_worst_first_each_with_a_fix) {
    auto readings = good_readings();
    readings.state.balance->config.on = readings.state.balance->frozen = true;
    readings.devices["eth1"].features.active.clear();
    readings.devices["eth1"].features.active.insert("tx-checksum");
    readings.devices["eth3"].mtu = 1400;
    const auto findings = all_findings(readings);
    EXPECT_THAT(seen(findings), ElementsAre("error eth3", "warning eth1", "note team0"));
    EXPECT_EQ(text_of("team0", findings),
              "error: eth3: its MTU is 1400, the MTU of team0 is 1500\n"
              "    ip link set eth3 mtu 1500\n"
              "warning: eth1: TSO is off: the CPU segments what leaves by it\n"
              "    ethtool -K eth1 tso on\n"
              "note: team0: balancing is frozen: no bucket is moved because of its load\n"
              "    teamoctl team0 balance thaw\n");
}

TEST(Findings, of_several_teams_name_each_team) {
    const std::vector<FindingsOfTeam> teams{{"team0",
                                             {{Severity::warning, "eth1", "no link", "ethtool eth1"},
                                              {Severity::warning, "team0", "irqbalance runs", "stop it"}}},
                                            {"team1", {}},
                                            {"team2",
                                             {{Severity::error, "team2", "no port carries", "plug"},
                                              {Severity::warning, "eth5", "no link", "ethtool eth1"},
                                              {Severity::warning, "team2", "irqbalance runs", "stop it"}}}};
    EXPECT_EQ("error: team2: no port carries\n    plug\n"
              "warning: team0: eth1: no link\n    ethtool eth1\n"
              "warning: team0, team2: irqbalance runs\n    stop it\n"
              "warning: team2: eth5: no link\n    ethtool eth1\n"
              "nothing is wrong with 1 team\n",
              text_of(teams, merged(teams)));
}

TEST(Findings, name_a_virtual_function_of_a_pair) {
    auto readings = good_readings();
    readings.devices["eth2"].is_virtual_function = true;
    readings.state.datapath = "bpf";
    EXPECT_THAT(seen(all_findings(readings)), ElementsAre("note eth2"));
    readings.state.datapath = "bond"; // bonding gives its groups to its ports
    EXPECT_THAT(all_findings(readings), IsEmpty());
}

TEST(Findings, report_no_carrying_port_and_only_one) {
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

TEST(Findings, report_a_team_that_is_down) {
    auto readings = good_readings(2);
    readings.devices["team0"].up = false;
    EXPECT_EQ(text_of("team0", all_findings(readings)),
              "error: team0: is administratively down: it cannot send or receive\n"
              "    ip link set team0 up\n");
}

TEST(Findings, report_configured_ports_that_are_missing) {
    auto readings = good_readings(2);
    readings.configuration = *json::parse(R"({"ports": {"eth1": {}, "eth2": {}, "eth7": {}, "eth8": {}}})");
    readings.actual = *json::parse(R"({"ports": {"eth1": {}, "eth2": {}}})");
    readings.state.refused = {{.where = "eth8", .what = "busy"}};
    EXPECT_THAT(seen(readings), ElementsAre("error eth8", "warning eth7"));
}

TEST(Findings, count_a_port_that_waits_for_the_others) {
    auto readings = good_readings(2);
    readings.state.ports[1].transmits = false; // it lacks an offload, or loses packets
    EXPECT_THAT(seen(readings), IsEmpty());
}

TEST(Findings, name_a_drained_port_and_what_ends_that) {
    auto readings = good_readings(3);
    auto& port = readings.state.ports[1];
    port.transmits = false;
    port.drain = {.phase = DrainPhase::drained, .by_hand = true};
    EXPECT_EQ(text_of("team0", all_findings(readings)),
              "note: eth2: is drained, by hand: it carries nothing while another port can\n"
              "    to use it again: teamoctl team0 port undrain eth2\n");
    port.drain = {.phase = DrainPhase::drained, .forced = true};
    EXPECT_THAT(text_of("team0", all_findings(readings)),
                testing::HasSubstr("is drained, by the configuration: it carries nothing\n"));
    port.drain = {.phase = DrainPhase::receiving, .received = 4000};
    EXPECT_THAT(
        text_of("team0", all_findings(readings)),
        testing::HasSubstr("warning: eth2: is to be drained, but the other end still sends to it, 4000 "
                           "frames in the last second"));
}

TEST(Findings, count_ports_that_another_aggregator_can_have) {
    const auto found = [](const std::string& one, const std::string& other) {
        auto readings = good_readings(2);
        readings.state.runner = "lacp";
        readings.state.ports[1].transmits = false;
        auto& first = readings.state.ports[0].lacp.emplace();
        first.state = one;
        first.fallback = one == "fallback";
        readings.state.ports[1].lacp.emplace().state = other;
        return teamo::ctl::text_of("team0", carrying_findings(readings));
    };
    const auto alone = testing::HasSubstr("of its 2 ports only eth1 can carry");
    EXPECT_THAT(found("current", "current"), testing::Not(alone));
    EXPECT_THAT(found("current", "defaulted"), alone) << "it has no partner";
    EXPECT_THAT(found("fallback", "defaulted"), testing::Not(alone)) << "neither has one";
}

TEST(Findings, name_a_damped_port) {
    auto readings = good_readings();
    readings.state.ports[1].damping = DampingStatus{.penalty = 1500};
    EXPECT_THAT(all_findings(readings), IsEmpty());
    readings.state.ports[1].damping->suppressed = true;
    EXPECT_THAT(seen(readings), ElementsAre("warning eth2"));
}

TEST(Findings, say_why_the_carrier_is_withheld) {
    auto readings = good_readings(2);
    readings.state.min_ports = 3;
    readings.state.link.up = false;
    const auto findings = all_findings(readings);
    ASSERT_EQ(seen(findings), std::vector<std::string>{"error team0"});
    EXPECT_THAT(findings[0].what,
                HasSubstr("has no carrier, because 2 of its ports can carry and runner.min_ports is 3"));
    readings.devices["team0"].up = false;
    EXPECT_THAT(text_of("team0", all_findings(readings)), Not(HasSubstr("min_ports")));
}

TEST(Findings, compare_loads_by_weight) {
    auto readings = good_readings(2);
    readings.rates["eth1"] = 80e6;
    readings.rates["eth2"] = 40e6;
    EXPECT_THAT(seen(readings), ElementsAre("warning eth1"));
    readings.state.ports[0].weight = 2;
    EXPECT_THAT(all_findings(readings), IsEmpty());
}

TEST(Findings, note_that_the_datapath_does_not_see_links) {
    auto readings = good_readings(2);
    readings.state.link_sight = {.sees = false, .reason = "the kernel refuses it"};
    EXPECT_THAT(seen(readings), ElementsAre("note team0"));
    EXPECT_THAT(text_of("team0", all_findings(readings)), testing::HasSubstr("the kernel refuses it"));
}

TEST(Findings, note_that_the_kernel_chooses_the_ports) {
    auto readings = good_readings(2);
    readings.state.kernel_hashes = true;
    readings.state.link_sight = {.sees = false, .reason = "bonding checks"};
    EXPECT_THAT(seen(readings), ElementsAre("note team0"));
    EXPECT_THAT(text_of("team0", all_findings(readings)), testing::HasSubstr("by its own hash"));
}

TEST(Findings, say_why_a_bond_of_others_is_not_steered) {
    auto readings = good_readings(2);
    readings.state.attached = AttachedStatus{.mode = "802.3ad", .own_policy = "layer2"};
    EXPECT_THAT(seen(readings), IsEmpty());
    readings.state.link_sight = {.sees = false, .reason = "bonding chooses the slaves"};
    for (const auto& [why, severity] : {std::pair{Unsteered::mode, "note team0"},
                                        {Unsteered::waits, "note team0"},
                                        {Unsteered::owner, "warning team0"},
                                        {Unsteered::slaves, "warning team0"},
                                        {Unsteered::programs, "warning team0"},
                                        {Unsteered::addresses, "note team0"},
                                        {Unsteered::delay, "note team0"}}) {
        readings.state.attached->unsteered = why;
        EXPECT_THAT(seen(readings), ElementsAre(severity)) << name_of(why);
        EXPECT_THAT(all_findings(readings), testing::Each(Field(&Finding::fix, testing::Not(IsEmpty()))));
    }
}

TEST(Findings, name_a_slave_that_sends_what_is_not_steered) {
    auto readings = good_readings(2);
    readings.state.attached = AttachedStatus{.mode = "802.3ad"};
    auto& now = readings.state.ports[1].counters;
    auto& before = readings.before.ports[1].counters;
    before.tx_steered_bytes = 1'000;
    now.tx_bytes = before.tx_bytes + 10'000'000;
    now.tx_steered_bytes = 1'000 + 9'000'000; // the rest are headers
    EXPECT_THAT(seen(readings), IsEmpty());
    now.tx_steered_bytes = 1'000 + 4'000'000;
    EXPECT_THAT(seen(readings), ElementsAre("note eth2"));
    EXPECT_THAT(text_of("team0", all_findings(readings)), HasSubstr("60 % of what it sends is not steered"));
    now.tx_bytes = before.tx_bytes + 100'000; // too little to matter
    now.tx_steered_bytes = 1'000;
    EXPECT_THAT(seen(readings), IsEmpty());
}

TEST(Findings, warn_of_a_queue_id_with_the_team_driver) {
    auto readings = good_readings(2);
    readings.configuration = *json::parse(
        R"({"runner": {"name": "loadbalance"}, "ports": {"eth1": {"queue_id": 3}, "eth2": {}}})");
    EXPECT_THAT(seen(readings), IsEmpty());
    readings.state.datapath = "team";
    EXPECT_THAT(seen(readings), ElementsAre("warning eth1"));
}

TEST(Findings, accept_backup_ports_that_do_not_transmit) {
    auto readings = good_readings(2);
    readings.state.runner = "activebackup";
    readings.state.balance.reset();
    readings.state.ports[1].transmits = readings.state.ports[1].receives = false;
    readings.state.ports[1].counters.rx_dropped = 100;
    EXPECT_THAT(seen(readings), IsEmpty());
}

TEST(Findings, distinguish_administratively_down_no_link_and_down_by_link_watch) {
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

TEST(Findings, warn_of_an_unknown_speed_if_balancing_is_on) {
    auto readings = good_readings();
    readings.state.ports[1].link.speed.reset();
    EXPECT_THAT(seen(readings), ElementsAre("note eth2"));
    readings.state.balance->config.on = true;
    EXPECT_THAT(seen(readings), ElementsAre("warning eth2"));
}

TEST(Findings, warn_of_a_larger_mtu) {
    auto readings = good_readings();
    readings.devices["eth2"].mtu = 9000;
    EXPECT_THAT(seen(readings), ElementsAre("warning eth2"));
}

TEST(Findings, ignore_tso_that_is_configured_off) {
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

TEST(Findings, note_a_device_without_tso) {
    auto readings = good_readings();
    readings.devices["eth2"].features = {.active = {"rx-gro"}, .wanted = {}, .changeable = {}};
    readings.devices["team0"].features = readings.devices["eth2"].features;
    EXPECT_THAT(seen(readings), ElementsAre("note team0", "note eth2"));
}

TEST(Findings, report_the_fullest_port_if_balancing_is_off) {
    auto readings = good_readings();
    readings.rates["eth3"] = 100e6; // of 250e6: 1.6 times the mean
    EXPECT_THAT(
        all_findings(readings),
        ElementsAre(AllOf(Field(&Finding::where, "eth3"), Field(&Finding::severity, Severity::warning),
                          Field(&Finding::what, HasSubstr("1.60 times its share")),
                          Field(&Finding::fix, HasSubstr("tx_balancer")))));
    readings.state.balance->config.on = true;
    EXPECT_THAT(seen(readings), IsEmpty()) << "balancing moves buckets";
    readings.state.balance->frozen = true;
    EXPECT_THAT(seen(readings), ElementsAre("warning eth3", "note team0"));
    readings.state.balance->config.on = false;
    readings.state.balance->frozen = false;
    for (auto& entry : readings.rates)
        entry.second /= 20;
    EXPECT_THAT(seen(readings), IsEmpty()) << "too little to matter";
}

TEST(Findings, compare_loads_by_speed) {
    auto readings = good_readings(2);
    readings.state.ports[0].link.speed = 3000;
    readings.rates = {{"eth1", 150e6}, {"eth2", 50e6}};
    EXPECT_THAT(seen(readings), IsEmpty());
    readings.rates = {{"eth1", 100e6}, {"eth2", 100e6}};
    EXPECT_THAT(seen(readings), ElementsAre("warning eth2"));
}

TEST(Findings, note_a_port_that_receives_most) {
    auto readings = good_readings();
    readings.rates.clear(); // nothing is sent
    const auto receives = [&](std::size_t port, std::uint64_t bytes) {
        readings.state.ports[port].counters.rx_bytes = bytes;
    };
    for (std::size_t port = 0; port < 4; ++port)
        receives(port, 20'000'000);
    EXPECT_THAT(seen(readings), IsEmpty());
    receives(2, 100'000'000); // of 160 MB
    EXPECT_THAT(all_findings(readings),
                ElementsAre(AllOf(Field(&Finding::where, "eth3"), Field(&Finding::severity, Severity::note),
                                  Field(&Finding::what, HasSubstr("receives 2.5 times its share")),
                                  Field(&Finding::fix, HasSubstr("layer 3+4")))));
    readings.state.ports[2].link.speed = 10'000;
    EXPECT_THAT(seen(readings), IsEmpty()) << "a faster port takes more";
    readings.state.ports[2].link.speed = 1000;
    for (auto& port : readings.state.ports)
        port.counters.rx_bytes /= 20;
    EXPECT_THAT(seen(readings), IsEmpty()) << "too little to matter";
    receives(2, 100'000'000);
    readings.state.runner = "activebackup";
    EXPECT_THAT(seen(readings), IsEmpty()) << "one port carries all";
    readings.state.runner = "slb";
    EXPECT_THAT(seen(readings), IsEmpty()) << "the switch has no group";
}

TEST(Findings, count_forced_moves_except_by_hand) {
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

TEST(Findings, warn_of_unknown_loads_if_balancing_is_on) {
    auto readings = good_readings();
    readings.state.balance->counted = false;
    EXPECT_THAT(seen(readings), IsEmpty());
    readings.state.balance->config.on = true;
    EXPECT_THAT(seen(readings), ElementsAre("warning team0"));
}

TEST(Findings, report_new_drops_only) {
    auto readings = good_readings();
    readings.before.ports[0].counters.rx_dropped = readings.state.ports[0].counters.rx_dropped = 100;
    EXPECT_THAT(seen(readings), IsEmpty());
    readings.state.ports[0].counters.rx_dropped = 107;
    readings.devices["eth2"].queue_dropped = 1;
    EXPECT_THAT(all_findings(readings),
                ElementsAre(Field(&Finding::what, HasSubstr("dropped 7 packets that arrived in a second")),
                            Field(&Finding::what, HasSubstr("dropped 1 packet in"))));
    readings.state.counts_by_program = false; // the port's device counts what it could not take
    EXPECT_THAT(
        all_findings(readings),
        Contains(Field(&Finding::what, HasSubstr("the device dropped 7 packets that arrived in a second"))));
}

Trial trial(const std::vector<double>& with, const std::vector<double>& without) {
    Trial trial{.port = "eth1"};
    for (std::size_t pair = 0; pair < with.size(); ++pair)
        trial.pairs.push_back({.with = {.bytes = with[pair], .cpu_per_kib = 1},
                               .without = {.bytes = without[pair], .cpu_per_kib = 2.5}});
    return trial;
}

TEST(Findings, report_a_port_that_sends_more_without_tso) {
    auto readings = good_readings();
    // One outlier of each kind does not count: a stall when TSO was switched.
    readings.trials = {trial({100, 101, 99, 100, 101, 99, 140}, {107, 108, 106, 107, 106, 108, 3})};
    EXPECT_EQ(
        text_of("team0", all_findings(readings)),
        "warning: eth1: sends 7.0 % more without TSO (measured, 7 rounds), at 2.50 instead of 1.00 µs of "
        "CPU time per KiB\n"
        "    in the configuration: \"ports\": {\"eth1\": {\"offload\": {\"tx-tcp-segmentation\": "
        "\"off\"}}}\n");
}

TEST(Findings, report_no_difference_within_noise) {
    auto readings = good_readings();
    for (const auto& same : {
             trial({100, 101, 99, 100, 101, 99, 100}, {101, 100, 99, 100, 99, 101, 100}),
             // medians differ by more than 2 % and the kinds do not overlap, but rounds of a kind differ more
             trial({90, 92, 100, 100, 100, 100, 101}, {101, 107, 107, 107, 107, 107, 108}),
             // medians differ by more than rounds of a kind, but the kinds overlap
             trial({99, 100, 100, 100, 115, 130, 131}, {110, 115, 120, 140, 140, 140, 141}),
             trial({100, 100, 100, 100, 100, 100, 100}, {101, 101, 101, 101, 101, 101, 101}),
             trial({100, 100, 100, 100, 100, 100}, {110, 110, 110, 110, 110, 110}),
             trial({110, 110, 110, 110, 110, 110, 110}, {100, 100, 100, 100, 100, 100, 100}),
             trial({0, 0, 0, 0, 0, 0, 0}, {1, 1, 1, 1, 1, 1, 1}),
         }) {
        readings.trials = {same};
        EXPECT_THAT(seen(readings), ElementsAre("note eth1"));
    }
}

TEST(Findings, qualify_a_measurement_without_a_difference) {
    auto readings = good_readings();
    const auto found = [&](double with, double without, double one_without) {
        readings.trials = {trial({}, {})};
        auto& pairs = readings.trials[0].pairs;
        for (std::size_t number = 0; number < trial_pairs; ++number)
            pairs.push_back({.with = {.bytes = 125e3 * with, .cpu_per_kib = 1},
                             .without = {.bytes = 125e3 * (number < 2 ? one_without : without)}});
        return all_findings(readings).at(0);
    };
    const std::string again =
        "to be sure, measure again when the port is nearly full: teamoctl team0 doctor --measure=eth1";
    EXPECT_EQ(
        found(900, 900, 900),
        (Finding{
            Severity::note, "eth1",
            "sends 900 Mbit/s with TSO, 900 Mbit/s without (7 rounds of each): it is not slower with TSO",
            "leave TSO on"}));
    EXPECT_EQ(found(100, 100, 100).fix, again);
    const auto unclear = found(900, 950, 800);
    EXPECT_THAT(unclear.what, AllOf(HasSubstr("may be slower with TSO"), HasSubstr("differ as much")));
    EXPECT_EQ(unclear.fix, again);
    EXPECT_THAT(found(0, 0, 0).what, HasSubstr("sent nothing"));
}

TEST(Measurements, include_ports_with_tso_near_saturation) {
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

/// A program on eth1 of a pair, or of a bond, with one of another before it.
Readings with_program(bool redirects, const ForeignProgram& before) {
    auto readings = good_readings();
    readings.state.programs.push_back({.device = "eth1",
                                       .hook = "ingress",
                                       .name = "teamo_receive",
                                       .id = 7,
                                       .by = "clsact",
                                       .redirects = redirects,
                                       .before = {before}});
    return readings;
}

TEST(ProgramFindings, say_what_becomes_of_frames_that_another_program_takes_or_accepts) {
    const ForeignProgram accepts{.kind = "u32", .priority = 10},
        takes{.kind = "matchall", .priority = 5, .takes = true};
    auto readings = with_program(true, accepts);
    EXPECT_THAT(seen(readings), ElementsAre("warning eth1"));
    EXPECT_THAT(all_findings(readings).front().what, HasSubstr("do not reach the team"));
    readings.state.programs.front().catches_accepted = true;
    EXPECT_THAT(seen(readings), ElementsAre("note eth1"));
    EXPECT_THAT(all_findings(readings).front().what, HasSubstr("reach the team by nftables"));
    EXPECT_THAT(seen(with_program(true, takes)), ElementsAre("error eth1"));
    const auto of_bond = with_program(false, takes);
    EXPECT_THAT(seen(of_bond), ElementsAre("warning eth1"));
    EXPECT_THAT(all_findings(of_bond).front().what,
                HasSubstr("are delivered even at a port that does not receive, and are not counted"));
}

TEST(ProgramFindings, notice_a_port_whose_frames_no_program_sees) {
    auto readings = with_program(true, {});
    readings.state.programs.front().before.clear();
    auto& port = readings.devices["eth1"];
    port.received = 5;
    EXPECT_THAT(seen(readings), ElementsAre("error eth1"));
    port.seen = 1;
    EXPECT_THAT(seen(readings), IsEmpty());
    port.seen = 0;
    port.has_xdp = true;
    EXPECT_THAT(seen(readings), IsEmpty()) << "it may take them";
}

} // namespace
} // namespace teamo::ctl
