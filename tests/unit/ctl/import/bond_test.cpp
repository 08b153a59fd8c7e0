// SPDX-License-Identifier: LGPL-2.1-or-later
#include "config/config_file.h"
#include "ctl/import/team_of_bond.h"
#include "json/parse.h"
#include "json/write.h"

#include <gmock/gmock.h>

#include <array>
#include <fstream>

namespace teamo::ctl {
namespace {

using testing::Contains;
using testing::ElementsAre, testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

std::string text_of(const json::Value& value) {
    return json::write(value, {.indent = 0, .sort_keys = false});
}

BondSetup bond(BondOptions options, std::vector<BondPortSetup> ports = {{.name = "eth1"}, {.name = "eth2"}}) {
    return {.device = "bond0", .options = std::move(options), .ports = std::move(ports)};
}

ImportedTeam imported(const BondSetup& setup) {
    auto team = team_of(setup);
    EXPECT_TRUE(team) << (team ? "" : team.error().text);
    EXPECT_THAT(read_document(team->document).diagnostics, IsEmpty()) << text_of(team->document);
    return std::move(*team);
}

std::string part(const ImportedTeam& team, std::string_view key) {
    const auto* found = team.document.find(key);
    return found == nullptr ? "" : text_of(*found);
}

TEST(ImportBond, makes_the_runner_of_each_mode) {
    const auto runner = [](const char* mode) { return part(imported(bond({{"mode", mode}})), "runner"); };
    EXPECT_EQ(R"({"name": "roundrobin"})", runner("balance-rr 0"));
    EXPECT_EQ(R"({"name": "activebackup"})", runner("1"));
    EXPECT_EQ(R"({"name": "loadbalance", "tx_hash": ["eth"]})", runner("balance-xor"));
    EXPECT_EQ(R"({"name": "broadcast"})", runner("broadcast"));
    EXPECT_EQ(R"({"name": "lacp", "tx_hash": ["eth"], "fallback": true, "agg_select_policy": "bandwidth"})",
              runner("802.3ad 4"));
    EXPECT_EQ(R"({"name": "activebackup"})", runner("balance-tlb"));
    EXPECT_EQ(R"({"name": "random"})",
              part(imported(bond({{"mode", "balance-rr"}, {"packets_per_slave", "0"}})), "runner"));
}

TEST(ImportBond, has_the_policy_of_the_owner_of_a_steered_bond) {
    auto setup = bond({{"mode", "balance-xor 2"}, {"xmit_hash_policy", "encap3+4 4"}});
    use_own_policy(setup, {.policy = "encap3+4"}); // the daemon does not know it
    EXPECT_THAT(imported(setup).lost, Contains(StartsWith("xmit_hash_policy encap3+4: ")));
    use_own_policy(setup, {.policy = "encap3+4", .own_policy = "layer2+3"});
    EXPECT_EQ(R"({"name": "loadbalance", "tx_hash": ["eth", "ip"]})", part(imported(setup), "runner"));
    EXPECT_THAT(imported(setup).lost, IsEmpty());
}

TEST(ImportBond, keeps_an_address_of_its_own) {
    auto setup = bond({});
    EXPECT_EQ("", part(imported(setup), "hwaddr"));
    setup.address = "02:00:00:00:00:07";
    EXPECT_EQ(R"("02:00:00:00:00:07")", part(imported(setup), "hwaddr"));
}

TEST(ImportBond, names_a_mode_without_a_counterpart) {
    EXPECT_THAT(imported(bond({{"mode", "balance-alb"}})).lost,
                ElementsAre(HasSubstr("mode balance-alb: no counterpart")));
}

TEST(ImportBond, keeps_lacp_parameters) {
    const auto team = imported(bond({{"mode", "802.3ad"},
                                     {"lacp_rate", "fast 1"},
                                     {"lacp_active", "off 0"},
                                     {"min_links", "2"},
                                     {"ad_select", "count"},
                                     {"ad_actor_sys_prio", "100"},
                                     {"ad_actor_system", "02:00:00:00:00:99"},
                                     {"lacp_strict", "on 1"},
                                     {"ad_user_port_key", "7"},
                                     {"xmit_hash_policy", "layer3+4 1"}}));
    EXPECT_EQ(
        R"({"name": "lacp", "tx_hash": ["ip", "l4"], "active": false, "fast_rate": true, )"
        R"("sys_prio": 100, "system": "02:00:00:00:00:99", "min_ports": 2, "agg_select_policy": "count"})",
        part(team, "runner"));
    EXPECT_EQ(R"({"eth1": {"lacp_key": 7}, "eth2": {"lacp_key": 7}})", part(team, "ports"));
    EXPECT_THAT(team.lost, ElementsAre(StartsWith("ad_user_port_key 7: is the whole key")));
}

TEST(ImportBond, watches_links_as_the_bond_does) {
    EXPECT_EQ(
        R"({"name": "ethtool", "delay_up": 200, "delay_down": 100})",
        part(imported(bond({{"miimon", "100"}, {"updelay", "200"}, {"downdelay", "100"}})), "link_watch"));
    const auto team = imported(bond({{"mode", "active-backup"},
                                     {"arp_interval", "250"},
                                     {"arp_ip_target", "192.0.2.1,192.0.2.2"},
                                     {"arp_validate", "all 3"},
                                     {"arp_all_targets", "all 1"}}));
    EXPECT_THAT(
        part(team, "link_watch"),
        StartsWith(R"([{"name": "arp_ping", "interval": 250, "missed_max": 2, )"
                   R"("target_host": "192.0.2.1", "validate_active": true, "validate_inactive": true},)"));
    EXPECT_EQ(R"("all")", part(team, "link_watch_policy"));
}

TEST(ImportBond, keeps_the_vlan_of_a_target_where_the_kernel_shows_it) {
    auto setup = bond({{"mode", "1"},
                       {"arp_interval", "250"},
                       {"arp_validate", "all"},
                       {"arp_ip_target", "192.0.2.1 198.51.100.1 203.0.113.1"},
                       {"ns_ip6_target", "2001:db8::1,2001:db8:7::1"}});
    EXPECT_THAT(
        imported(setup).lost,
        ElementsAre(StartsWith("arp_ip_target 192.0.2.1: may be in a VLAN of the bond"),
                    StartsWith("arp_ip_target 198.51.100.1: may"),
                    StartsWith("arp_ip_target 203.0.113.1: may"),
                    "ns_ip6_target 2001:db8::1: may be in a VLAN of the bond, which is not known here; "
                    "nsna_ping sends no VLAN tag",
                    StartsWith("ns_ip6_target 2001:db8:7::1: may")));
    setup.target_vlans = {{"192.0.2.1", {}},
                          {"198.51.100.1", {7}},
                          {"203.0.113.1", {7, 8}},
                          {"2001:db8::1", {}},
                          {"2001:db8:7::1", {7}}};
    const auto team = imported(setup);
    EXPECT_THAT(part(team, "link_watch"), HasSubstr(R"("target_host": "198.51.100.1", "vlanid": 7)"));
    EXPECT_THAT(part(team, "link_watch"), testing::Not(HasSubstr(R"("192.0.2.1", "vlanid")")));
    EXPECT_THAT(team.lost,
                ElementsAre("arp_ip_target 203.0.113.1: is in VLAN 7.8 of the bond; arp_ping sends "
                            "one VLAN tag only",
                            StartsWith("ns_ip6_target 2001:db8:7::1: is in VLAN 7 of the bond")));
}

TEST(ImportBond, names_what_an_option_does_not_mean_here) {
    const auto lost = [](BondOptions options) {
        options.insert({"mode", "active-backup"});
        return imported(bond(std::move(options))).lost;
    };
    EXPECT_THAT(lost({{"fail_over_mac", "follow 2"}}), ElementsAre(StartsWith("fail_over_mac follow: ")));
    EXPECT_THAT(lost({{"fail_over_mac", "active 1"}}), IsEmpty());
    EXPECT_THAT(lost({{"primary", "eth1"}, {"primary_reselect", "better"}}),
                ElementsAre(StartsWith("primary_reselect better: ")));
    EXPECT_THAT(lost({{"arp_interval", "100"}, {"arp_ip_target", "192.0.2.1"}}),
                Contains(StartsWith("arp_validate none: ")));
    auto own = bond({{"mode", "1"}, {"fail_over_mac", "follow"}});
    own.address = "02:00:00:00:00:07";
    EXPECT_THAT(imported(own).lost, IsEmpty()) << "no port has the address of the team";
    EXPECT_THAT(imported(bond({}, {{.name = "eth1", .options = {{"queue_id", "2"}}}})).lost,
                ElementsAre(StartsWith("queue_id 2 of eth1: ")));
}

TEST(ImportBond, prefers_the_primary) {
    const auto ports = [](const char* reselect) {
        return part(imported(bond({{"mode", "1"}, {"primary", "eth2"}, {"primary_reselect", reselect}})),
                    "ports");
    };
    EXPECT_EQ(R"({"eth1": {}, "eth2": {"prio": 100}})", ports("always 0"));
    EXPECT_EQ(R"({"eth1": {"sticky": true}, "eth2": {"prio": 100, "sticky": true}})", ports("failure 2"));
    EXPECT_EQ(R"({"eth1": {}, "eth2": {"prio": 5}})",
              part(imported(bond({{"mode", "1"}},
                                 {{.name = "eth1"}, {.name = "eth2", .options = {{"prio", "5"}}}})),
                   "ports"))
        << "the port with the higher prio is active again when it returns";
    EXPECT_EQ(R"({"eth1": {"prio": 201}, "eth2": {"prio": 200}})",
              part(imported(bond({{"mode", "1"}, {"primary", "eth1"}},
                                 {{.name = "eth1"}, {.name = "eth2", .options = {{"prio", "200"}}}})),
                   "ports"));
}

TEST(ImportBond, loses_nothing_by_defaults_of_the_kernel) {
    // A bond of kernel 6.12 in sysfs.
    EXPECT_THAT(imported(bond({{"ad_actor_sys_prio", "65535"},
                               {"ad_actor_system", "00:00:00:00:00:00"},
                               {"ad_select", "stable 0"},
                               {"ad_user_port_key", "0"},
                               {"all_slaves_active", "0"},
                               {"arp_all_targets", "any 0"},
                               {"arp_interval", "0"},
                               {"arp_missed_max", "2"},
                               {"arp_validate", "none 0"},
                               {"downdelay", "0"},
                               {"fail_over_mac", "none 0"},
                               {"lacp_active", "on 1"},
                               {"lacp_rate", "slow 0"},
                               {"lp_interval", "1"},
                               {"miimon", "100"},
                               {"min_links", "0"},
                               {"mode", "802.3ad 4"},
                               {"num_grat_arp", "1"},
                               {"num_unsol_na", "1"},
                               {"packets_per_slave", "1"},
                               {"peer_notif_delay", "0"},
                               {"primary_reselect", "always 0"},
                               {"resend_igmp", "1"},
                               {"tlb_dynamic_lb", "1"},
                               {"updelay", "0"},
                               {"use_carrier", "1"},
                               {"xmit_hash_policy", "layer2 0"}}))
                    .lost,
                IsEmpty());
}

TEST(ImportBond, carries_min_links_over_where_bonding_has_it) {
    const auto runner = [](const char* mode) {
        return part(imported(bond({{"mode", mode}, {"min_links", "2"}})), "runner");
    };
    EXPECT_THAT(runner("802.3ad 4"), HasSubstr(R"("min_ports": 2)"));
    EXPECT_THAT(runner("balance-xor 2"), Not(HasSubstr("min_ports"))) << "bonding ignores it there";
    EXPECT_THAT(imported(bond({{"mode", "balance-xor 2"}, {"min_links", "2"}})).lost,
                Contains(StartsWith("min_links 2: bonding ignores it in mode balance-xor")));
}

TEST(ImportBond, names_each_lost_option) {
    EXPECT_THAT(imported(bond({{"all_slaves_active", "1"}, {"broadcast_neighbor", "on 1"}})).lost,
                ElementsAre(StartsWith("all_slaves_active 1: no counterpart"),
                            StartsWith("broadcast_neighbor on 1: no counterpart")));
    EXPECT_THAT(imported(bond({{"no_such", "1"}})).lost,
                ElementsAre(StartsWith("no_such 1: unknown bonding option")));
}

TEST(ImportBond, says_that_no_port_was_found) {
    EXPECT_THAT(imported(bond({}, {})).lost, ElementsAre(StartsWith("no port was found")));
}

TEST(ImportBond, refuses_a_value_that_bonding_does_not_have) {
    const auto team = team_of(bond({{"mode", "fastest"}}));
    ASSERT_FALSE(team);
    EXPECT_EQ("mode: bonding has no value \"fastest\"", team.error().text);
}

TEST(ImportBond, document_has_each_option) {
    std::ifstream page(TEAMO_SOURCE_DIR "/docs/bonding-options.md");
    std::vector<std::string> rows, expected;
    for (std::string line; std::getline(page, line);)
        if (line.starts_with("| `")) rows.push_back(line);
    constexpr std::array words{"carried over", "no meaning here", "no counterpart"};
    for (const auto& option : bond_options())
        expected.push_back(fmt::format("| `{}` | {} | {} |", option.name,
                                       words[static_cast<std::size_t>(option.counterpart)], option.text));
    EXPECT_THAT(rows, ElementsAreArray(expected));
}

} // namespace
} // namespace teamo::ctl
