// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/report/top.h"

#include "unit/ctl/support.h"
#include "unit/lines.h"

#include <gmock/gmock.h>

namespace teamo::ctl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::StartsWith;

PortStatus top_port(const std::string& name, std::uint64_t sent, std::uint64_t received) {
    auto port = good_port(name, 1);
    port.counters.tx_packets = sent / 50'000;
    port.counters.tx_bytes = sent;
    port.counters.rx_packets = received / 1'000;
    port.counters.rx_bytes = received;
    return port;
}

TeamState top_state(std::vector<PortStatus> ports) {
    auto team = good_team();
    team.device_kind = "netkit";
    team.ports = std::move(ports);
    return team;
}

/// Two readings, two seconds apart.
struct Readings {
    Reading earlier{top_state({top_port("eth1", 0, 0), top_port("eth2", 0, 0)}), {}, {}};
    Reading later{top_state({top_port("eth1", 25'000'000, 0), top_port("eth2", 250'000'000, 50'000'000)}),
                  {},
                  std::chrono::steady_clock::time_point(std::chrono::seconds(2))};
};

TEST(Top, shows_rates_of_the_time_between) {
    const Readings readings;
    const auto lines = lines_of(top_text(readings.earlier, readings.later, {}, {}));
    EXPECT_EQ("team0 - loadbalance over bpf (netkit), 2 of 2 ports carry", lines[0]);
    EXPECT_EQ("sends 1100 Mbit/s in 2750 packets/s, receives 200 Mbit/s in 25000 packets/s", lines[1]);
    EXPECT_THAT(lines[4], HasSubstr("eth1"));
    EXPECT_THAT(lines[4], HasSubstr(" 100.0 "));
    EXPECT_THAT(lines[5], HasSubstr("1000.0 "));
    EXPECT_THAT(lines[5], HasSubstr(" 50000 ")); // bytes of a packet
}

TEST(Top, sorts_by_what_is_sent) {
    const Readings readings;
    const auto lines = lines_of(top_text(readings.earlier, readings.later, {}, {.order = TopOrder::sent}));
    EXPECT_THAT(lines[4], HasSubstr("eth2"));
}

TEST(Top, of_all_teams_has_a_line_for_each) {
    Readings readings;
    readings.later.state.ports[0].loss.what = "it loses packets";
    readings.later.state.ports[1].transmits = false;
    TeamReadings earlier{{"gone", readings.earlier}, {"team1", readings.earlier}};
    TeamReadings later{{"silent", std::nullopt}, {"team0", readings.later}, {"team1", readings.later}};
    const auto lines = lines_of(top_text_of_teams(earlier, later, {.order = TopOrder::sent, .columns = 200}));
    ASSERT_EQ(6U, lines.size());
    EXPECT_EQ("3 teams: sends 1100 Mbit/s, receives 200 Mbit/s", lines[0]);
    EXPECT_THAT(lines[3], MatchesRegex("team1 +loadbalance +bpf +1/2 +1100.0 +200.0 +eth2 100.0 % +"
                                       "eth1: it loses packets"));
    EXPECT_THAT(lines[4], MatchesRegex("silent .* does not answer"));
    EXPECT_THAT(lines[5], MatchesRegex("team0 .* 0.0 +0.0 +eth1 0.0 % .*")) << "it has just come";
    const TopView by_name{.order = TopOrder::configured, .columns = 200};
    EXPECT_THAT(lines_of(top_text_of_teams(earlier, later, by_name))[4], StartsWith("team0"));
}

TEST(Top, fits_the_terminal) {
    const Readings readings;
    const std::deque<std::string> events(50, std::string(300, 'x'));
    const auto text = top_text(readings.earlier, readings.later, events, {.columns = 80, .rows = 24});
    const auto lines = lines_of(text);
    EXPECT_EQ(24U, lines.size());
    for (const auto& line : lines)
        EXPECT_LE(line.size(), 80U) << line;
    EXPECT_FALSE(text.ends_with('\n'));
}

TEST(Top, ports_fit_80_columns) {
    const Readings readings;
    for (const auto& line : lines_of(top_text(readings.earlier, readings.later, {}, {.columns = 99})))
        EXPECT_LE(line.size(), 80U) << line;
}

TEST(Top, names_events) {
    const auto before = top_state({top_port("eth1", 0, 0), top_port("eth2", 0, 0)});
    auto after = top_state({top_port("eth1", 0, 0), top_port("eth3", 0, 0)});
    after.ports[0].transmits = false;
    after.ports[0].loss.what = "it loses packets";
    EXPECT_THAT(top_events(before, after),
                ElementsAre("eth1 no longer carries", "eth1: it loses packets", "eth3 joined", "eth2 left"));
    EXPECT_THAT(top_events(before, before), IsEmpty());
}

TEST(Top, survives_a_counter_that_begins_anew) {
    const Readings readings;
    EXPECT_THAT(top_text(readings.later, readings.earlier, {}, {}), HasSubstr("sends 0 Mbit/s"));
}

} // namespace
} // namespace teamo::ctl
