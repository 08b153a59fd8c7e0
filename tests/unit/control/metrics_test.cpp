// SPDX-License-Identifier: LGPL-2.1-or-later
#include "control/metrics_text.h"
#include "json/parse.h"

#include <gmock/gmock.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>

namespace teamo::control {
namespace {

using testing::HasSubstr;
using testing::Not;

json::Value state(const std::string& team, const std::string& more = "") {
    return *json::parse(R"({"team_device": {"ifinfo": {"ifname": ")" + team + R"("},
        "link": {"up": true, "speed": 2000}}, "setup": {"runner_name": "lacp", "version": "1.2.3"},
        "datapath": {"name": "bpf"},
        )" + more + R"(
        "offload": {"ports": {"eth1": {"repaired": 3, "lacking": ["a", "b"]}}},
        "ports": {"eth1": {"link": {"up": true, "speed": 1000},
            "link_watches": {"list": {"link_watch_0": {"down_count": 2}, "link_watch_1": {"down_count": 1}}},
            "datapath": {"counters": {"tx_packets": 12345678901234}},
            "drain": {"wanted": true}, "loss": {"finding": "", "retransmitted_ppm": 12000},
            "damping": {"penalty": 2207, "reuse_milliseconds": 68400, "suppressed": true},
            "failure_domain": {"card": "0000:03:00", "switch": {"id": "c", "name": "leaf-7", "port": "Ethernet 8"}},
            "runner": {"selected": true, "detail": {"milliseconds_since_received": -1}}}}})");
}

std::string text_of_teams(const std::vector<json::Value>& states) { return metrics_text(states); }

TEST(Metrics, have_base_units) {
    const auto text = text_of_teams({state("team0")});
    EXPECT_THAT(text, HasSubstr("teamd_offload_team_speed_bytes{team=\"team0\"} 250000000\n"));
    EXPECT_THAT(text, HasSubstr("teamd_offload_port_down_total{team=\"team0\",port=\"eth1\"} 3\n"));
    EXPECT_THAT(text,
                HasSubstr("teamd_offload_port_retransmitted_ratio{team=\"team0\",port=\"eth1\"} 0.012\n"));
    EXPECT_THAT(text, HasSubstr("teamd_offload_port_drained{team=\"team0\",port=\"eth1\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("teamd_offload_port_loses_packets{team=\"team0\",port=\"eth1\"} 0\n"));
    EXPECT_THAT(text, HasSubstr("teamd_offload_port_damped{team=\"team0\",port=\"eth1\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("teamd_offload_port_damping_penalty{team=\"team0\",port=\"eth1\"} 2207\n"));
    EXPECT_THAT(text, HasSubstr("teamd_offload_port_offloads_lacking{team=\"team0\",port=\"eth1\"} 2\n"));
    EXPECT_THAT(
        text, HasSubstr("team_info{team=\"team0\",runner=\"lacp\",datapath=\"bpf\",version=\"1.2.3\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("_transmit_packets_total{team=\"team0\",port=\"eth1\"} 12345678901234\n"));
    EXPECT_THAT(text, Not(HasSubstr("lacpdu_received_seconds"))) << "none has come";
}

TEST(Metrics, name_a_team_that_does_not_run) {
    const auto refused = parse_refused_teams(refused_teams_text(
        std::vector{RefusedTeam{.team = "team9", .file = "f", .why = "w", .retried = true}}));
    EXPECT_THAT(metrics_text({}, refused), HasSubstr("teamd_offload_team_refused{team=\"team9\"} 1\n"));
    EXPECT_TRUE(parse_refused_teams("[").empty());
    EXPECT_THAT(text_of_teams({state("team0")}), Not(HasSubstr("refused")));
}

/// A port without a neighbour has the labels too, empty: otherwise a join leaves it out.
TEST(Metrics, tell_the_switch_of_each_port) {
    const auto text = text_of_teams(
        {state("team0"), *json::parse(R"({"team_device": {"ifinfo": {"ifname": "team1"}}, "ports": {
            "eth2": {"failure_domain": {"card": "", "switch": {"id": "c", "name": "", "port": "8"}}},
            "eth3": {}}})")});
    EXPECT_THAT(text, HasSubstr("teamd_offload_port_info{team=\"team0\",port=\"eth1\",switch=\"leaf-7\","
                                "switch_port=\"Ethernet 8\",card=\"0000:03:00\"} 1\n"));
    EXPECT_THAT(text,
                HasSubstr("{team=\"team1\",port=\"eth2\",switch=\"c\",switch_port=\"8\",card=\"\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("{team=\"team1\",port=\"eth3\",switch=\"\",switch_port=\"\",card=\"\"} 1\n"));
}

TEST(Metrics, follow_the_text_format) {
    const auto text = text_of_teams({state("team0"), state(R"(team\"1\\)")});
    std::istringstream lines(text);
    std::set<std::string> families;
    std::string family, type;
    const std::regex sample("([a-z_]+)\\{([a-z_]+=\"([^\"\\\\]|\\\\.)*\",?)+\\} [0-9.e+]+");
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("# HELP ")) {
            family = line.substr(7, line.find(' ', 7) - 7);
            EXPECT_TRUE(families.insert(family).second) << family << " comes twice";
            EXPECT_TRUE(line.ends_with('.')) << line;
        } else if (line.starts_with("# TYPE ")) {
            type = line.substr(8 + family.size());
            EXPECT_EQ("# TYPE " + family + " " + type, line);
            EXPECT_EQ(type == "counter", family.ends_with("_total")) << family;
        } else {
            std::smatch match;
            ASSERT_TRUE(std::regex_match(line, match, sample)) << line;
            EXPECT_EQ(family, match[1].str());
        }
    }
    EXPECT_GT(families.size(), 8U);
    EXPECT_THAT(text, HasSubstr("{team=\"team\\\"1\\\\\"}"));
}

std::string file_at(const std::string& path) {
    std::ifstream file(TEAMO_SOURCE_DIR "/" + path);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// A name that is written wrong in a rule is an alert that never fires.
TEST(Metrics, that_rules_and_dashboard_use_exist) {
    const auto source = file_at("lib/control/metrics_text.cpp");
    const auto dashboard = file_at("packaging/prometheus/teamd-offload.dashboard.json");
    EXPECT_TRUE(json::parse(dashboard));
    const auto text = dashboard + file_at("packaging/prometheus/teamd-offload.rules.yml");
    const std::regex metric("teamd_offload_([a-z_]+)");
    std::set<std::string> names;
    for (std::sregex_iterator found(text.begin(), text.end(), metric), end; found != end; ++found)
        names.insert("\"" + (*found)[1].str() + "\"");
    EXPECT_GT(names.size(), 10U);
    for (const auto& name : names)
        EXPECT_THAT(source, HasSubstr(name));
}

TEST(Metrics, of_faults_have_an_alert_and_a_panel) {
    for (const auto* file : {"teamd-offload.rules.yml", "teamd-offload.dashboard.json"}) {
        const auto text = file_at(std::string("packaging/prometheus/") + file);
        for (const auto* metric : {"team_carrier", "team_refused", "port_damped", "port_loses_packets"})
            EXPECT_THAT(text, HasSubstr(std::string("teamd_offload_") + metric)) << file;
    }
}

/// Bonding does not tell when a LACPDU came, and counts them.
TEST(Metrics, of_lacp_by_bonding_have_what_the_alert_of_a_silent_partner_needs) {
    const auto text = text_of_teams({*json::parse(R"({"team_device": {"ifinfo": {"ifname": "bond0"}},
        "ports": {"eth1": {"link": {"up": true}, "runner": {"detail": {"lacpdus_received": 0,
            "milliseconds_since_received": -1}}}, "eth2": {"link": {"up": true}}}})")});
    const auto rules = file_at("packaging/prometheus/teamd-offload.rules.yml");
    const auto at = rules.find("alert: TeamPartnerSilent");
    ASSERT_NE(at, std::string::npos);
    const auto rule = rules.substr(at, rules.find("annotations", at) - at);
    for (const auto* metric : {"teamd_offload_port_lacpdus_received_total", "teamd_offload_port_link_up"}) {
        EXPECT_THAT(rule, HasSubstr(metric));
        EXPECT_THAT(text, HasSubstr(std::string(metric) + "{team=\"bond0\",port=\"eth1\"}"));
    }
    EXPECT_THAT(rule, Not(HasSubstr("lacpdu_received_seconds")));
    EXPECT_THAT(text, Not(HasSubstr("lacpdus_received_total{team=\"bond0\",port=\"eth2\"}")))
        << "other runners have none";
}

/// doctor names the port; the state has the time.
TEST(Metrics, of_a_damped_port_lead_to_the_command_that_shows_when_it_returns) {
    EXPECT_THAT(file_at("packaging/prometheus/teamd-offload.rules.yml"),
                HasSubstr("When it will be used again: teamoctl {{ $labels.team }} state."));
}

TEST(Metrics, of_no_team_are_empty) { EXPECT_EQ("", text_of_teams({})); }

} // namespace
} // namespace teamo::control
