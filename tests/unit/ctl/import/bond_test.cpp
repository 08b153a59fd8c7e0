// SPDX-License-Identifier: LGPL-2.1-or-later
#include "config/config_file.h"
#include "ctl/import/bond_options.h"
#include "ctl/import/settings_file.h"
#include "unit/kernel/tree.h"
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
    EXPECT_EQ(R"({"name": "lacp", "tx_hash": ["eth"], "agg_select_policy": "bandwidth"})",
              runner("802.3ad 4"));
    EXPECT_EQ(R"({"name": "activebackup"})", runner("balance-tlb"));
    EXPECT_EQ(R"({"name": "random"})",
              part(imported(bond({{"mode", "balance-rr"}, {"packets_per_slave", "0"}})), "runner"));
}

TEST(ImportBond, takes_only_an_address_that_is_one) {
    auto setup = bond({});
    setup.address = "02:00:00:00:00:07";
    EXPECT_EQ(R"("02:00:00:00:00:07")", part(imported(setup), "hwaddr"));
    setup.address = "none"; // networkd
    EXPECT_EQ("", part(imported(setup), "hwaddr"));
    setup.address = "random"; // ifupdown
    EXPECT_EQ("", part(imported(setup), "hwaddr"));
    EXPECT_THAT(imported(setup).lost, Contains(HasSubstr("hardware address random")));
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
                                     {"ad_user_port_key", "7"},
                                     {"xmit_hash_policy", "layer3+4 1"}}));
    EXPECT_EQ(R"({"name": "lacp", "tx_hash": ["ip", "l4"], "active": false, "fast_rate": true, )"
              R"("sys_prio": 100, "min_ports": 2, "agg_select_policy": "count"})",
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

TEST(ImportBond, names_each_lost_option) {
    EXPECT_THAT(imported(bond({{"all_slaves_active", "1"}, {"ad_actor_system", "02:00:00:00:00:01"}})).lost,
                ElementsAre(StartsWith("ad_actor_system 02:00:00:00:00:01: no counterpart"),
                            StartsWith("all_slaves_active 1: no counterpart")));
    EXPECT_THAT(imported(bond({{"no_such", "1"}})).lost, ElementsAre(StartsWith("no_such 1: no option")));
}

TEST(ImportBond, says_that_no_port_was_found) {
    auto setup = bond({}, {});
    EXPECT_THAT(imported(setup).lost, ElementsAre(StartsWith("no port was found")));
    setup.remarks = {"the ports have no names there"};
    EXPECT_THAT(imported(setup).lost, ElementsAre("the ports have no names there"));
}

TEST(ImportBond, refuses_a_value_that_bonding_does_not_have) {
    const auto team = team_of(bond({{"mode", "fastest"}}));
    ASSERT_FALSE(team);
    EXPECT_EQ("mode: bonding has no value \"fastest\"", team.error().text);
}

TEST(ImportBond, document_has_each_option) {
    std::ifstream page(TEAMO_SOURCE_DIR "/docs/moving.md");
    std::vector<std::string> rows, expected;
    for (std::string line; std::getline(page, line);)
        if (line.starts_with("| `")) rows.push_back(line);
    constexpr std::array words{"carried over", "no meaning here", "no counterpart"};
    for (const auto& option : bond_options())
        expected.push_back(fmt::format("| `{}` | {} | {} |", option.name,
                                       words[static_cast<std::size_t>(option.counterpart)], option.text));
    EXPECT_THAT(rows, ElementsAreArray(expected));
}

// ---- the same bond in each kind of file ---------------------------------------------------------------

class ImportFile : public test::Tree {
protected:
    std::string write(const std::string& name, const std::string& text) {
        file(name, text);
        return root() + "/" + name;
    }
    static void expect_bond(const std::string& path) {
        const auto read = read_bond(path, "");
        ASSERT_TRUE(read) << read.error().text;
        const auto team = imported(*read);
        EXPECT_EQ(
            R"({"device": "bond0", "runner": {"name": "lacp", "tx_hash": ["ip", "l4"], "fast_rate": true, )"
            R"("agg_select_policy": "bandwidth"}, "link_watch": {"name": "ethtool", "delay_up": 200}, )"
            R"("ports": {"eth1": {}, "eth2": {}}})",
            text_of(team.document));
        EXPECT_THAT(team.lost, IsEmpty());
    }
};

TEST_F(ImportFile, of_ifupdown) {
    expect_bond(write("interfaces", "auto bond0\n"
                                    "iface bond0 inet static\n"
                                    "    address 192.0.2.1/24\n"
                                    "    bond-slaves eth1 eth2\n"
                                    "    bond-mode 802.3ad\n"
                                    "    bond_xmit_hash_policy layer3+4\n"
                                    "    bond-lacp-rate \\\n"
                                    "      fast\n"
                                    "    bond-miimon 100\n"
                                    "    bond-updelay 200\n"));
}

TEST_F(ImportFile, of_ifupdown_with_options_at_its_ports_and_in_other_files) {
    write("eth1", "iface eth1 inet manual\n    bond-master bond0  \n    bond-mode 802.3ad\n"
                  "    bond-xmit-hash-policy layer3+4\n");
    write("eth2", "iface eth2 inet manual\r\n    bond-master bond0\r\n    bond-lacp-rate fast\r\n");
    expect_bond(write("interfaces", "source eth*\nauto bond0\niface bond0 inet dhcp\n    bond-miimon 100\n"
                                    "    bond-updelay 200\n"));
}

TEST_F(ImportFile, names_ports_that_it_cannot_tell) {
    write("10-uplinks.network", "[Match]\nName=eno*\n[Network]\nBond=bond0\n");
    const auto bond = read_bond(write("bond0.netdev", "[NetDev]\nName=bond0\nKind=bond\n"), "");
    ASSERT_TRUE(bond);
    EXPECT_THAT(bond->remarks, ElementsAre(HasSubstr("the ports have no names there")));
    const auto plan =
        bonds_of_netplan("network:\n  ethernets:\n    a: {match: {macaddress: x}, set-name: eth1}\n"
                         "    b: {match: {driver: x}}\n  bonds:\n    bond0: {interfaces: [a, b]}\n");
    ASSERT_TRUE(plan && plan->size() == 1);
    EXPECT_EQ("eth1", plan->front().ports[0].name);
    EXPECT_THAT(plan->front().remarks, ElementsAre(HasSubstr("b is matched by its hardware")));
}

TEST_F(ImportFile, of_networkd) {
    write("10-eth1.network", "[Match]\nName=eth1 eth2\n[Network]\nBond=bond0\n");
    expect_bond(write("bond0.netdev", "[NetDev]\nName=bond0\nKind=bond\n"
                                      "[Bond]\nMode=802.3ad\nTransmitHashPolicy=layer3+4\n"
                                      "LACPTransmitRate=fast\nMIIMonitorSec=100ms\nUpDelaySec=0.2\n"));
}

TEST_F(ImportFile, of_networkd_with_times_of_one_second) {
    const auto bond = read_bond(write("bond0.netdev", "[NetDev]\nName=bond0\nKind=bond\n[Bond]\n"
                                                      "ARPIntervalSec=1\nUpDelaySec=0\nAllSlavesActive=1\n"),
                                "");
    ASSERT_TRUE(bond);
    EXPECT_EQ("1000", bond->options.at("arp_interval"));
    EXPECT_EQ("0", bond->options.at("updelay"));
    EXPECT_EQ("1", bond->options.at("all_slaves_active"));
}

TEST_F(ImportFile, of_a_folder_of_ifupdown_without_what_a_package_left) {
    write("bond0", "iface bond0 inet manual\n    bond-slaves eth1 eth2\n    bond-mode active-backup\n");
    for (const auto* left : {"bond0.dpkg-old", "bond0~"})
        write(left, "iface bond0 inet manual\n    bond-slaves eth7\n    bond-mode 802.3ad\n");
    const auto interfaces = write("interfaces.conf", "source-directory .\n");
    const auto bond = read_bond(interfaces, "");
    ASSERT_TRUE(bond) << bond.error().text;
    EXPECT_EQ(2u, bond->ports.size());
    EXPECT_EQ("active-backup", bond->options.at("mode"));
}

TEST_F(ImportFile, of_netplan_names_the_primary_as_its_device) {
    const std::string bond = "  bonds:\n    bond0:\n      interfaces: [a, b]\n      parameters: {mode: "
                             "active-backup, primary: ";
    const std::string head = "network:\n  ethernets:\n    a: {match: {macaddress: x}, set-name: eth1}\n"
                             "    b: {match: {macaddress: y}, set-name: eth2}\n";
    const auto of_a = bonds_of_netplan(head + bond + "a}\n"), of_c = bonds_of_netplan(head + bond + "c}\n");
    ASSERT_TRUE(of_a && of_c);
    const auto team = team_of(of_a->front()), without = team_of(of_c->front());
    ASSERT_TRUE(team && without);
    EXPECT_EQ("{\"eth1\": {\"prio\": 100}, \"eth2\": {}}", text_of(*team->document.find("ports")));
    EXPECT_THAT(without->lost, Contains(HasSubstr("primary c: is no port")));
}

TEST_F(ImportFile, of_netplan) {
    expect_bond(write("bond.yaml", "network:\n  version: 2\n  bonds:\n    bond0:\n"
                                   "      interfaces: [eth1, eth2]\n      addresses: [192.0.2.1/24]\n"
                                   "      parameters:\n        mode: 802.3ad\n"
                                   "        transmit-hash-policy: layer3+4\n        lacp-rate: fast\n"
                                   "        mii-monitor-interval: 100\n        up-delay: 200\n"));
}

TEST_F(ImportFile, of_network_manager) {
    for (const auto* port : {"eth1", "eth2"})
        write(fmt::format("{}.nmconnection", port),
              fmt::format("[connection]\nid={0}\ntype=ethernet\ninterface-name={0}\nmaster=bond0\n"
                          "slave-type=bond\n",
                          port));
    expect_bond(write("bond0.nmconnection", "[connection]\nid=office\ntype=bond\ninterface-name=bond0\n"
                                            "[bond]\nmode=802.3ad\nxmit_hash_policy=layer3+4\n"
                                            "lacp_rate=fast\nmiimon=100\nupdelay=200\n"));
}

TEST_F(ImportFile, of_ifcfg) {
    for (const auto* port : {"eth1", "eth2"})
        write(fmt::format("ifcfg-{}", port), fmt::format("DEVICE={}\nMASTER=\"bond0\"\nSLAVE=yes\n", port));
    expect_bond(write("ifcfg-bond0", "DEVICE=bond0\nBONDING_MASTER=yes\n"
                                     "BONDING_OPTS=\"mode=802.3ad xmit_hash_policy=layer3+4 lacp_rate=1 "
                                     "miimon=100 updelay=200\"\n"));
}

TEST_F(ImportFile, remarks_a_file_beside_it_that_cannot_be_read) {
    folder("ifcfg-eth1");
    folder("ifcfg-eth2.bak");
    const auto bond = read_bond(write("ifcfg-bond0", "DEVICE=bond0\nBONDING_MASTER=yes\n"), "");
    ASSERT_TRUE(bond) << bond.error().text;
    EXPECT_THAT(bond->remarks, ElementsAre(HasSubstr("ifcfg-eth1: Is a directory; ")));
}

TEST_F(ImportFile, with_several_bonds_needs_a_name) {
    const auto path = write("interfaces", "iface bond0 inet manual\n  bond-slaves eth1\n"
                                          "iface bond1 inet manual\n  bond-slaves eth2\n");
    EXPECT_THAT(read_bond(path, "").error().text, HasSubstr("has several bonds: bond0, bond1"));
    EXPECT_EQ("bond1", read_bond(path, "bond1")->device);
    EXPECT_THAT(read_bond(path, "bond7").error().text, HasSubstr("has no bond bond7"));
}

TEST_F(ImportFile, names_the_line_of_invalid_yaml) {
    EXPECT_THAT(read_bond(write("bond.yaml", "network:\n  bonds: [\n"), "").error().text,
                HasSubstr("bond.yaml: line 4, column 1: "));
}

TEST(SettingsFile, splits_words_as_a_shell_does) {
    EXPECT_THAT(shell_words("eth1  'eth 2' \"eth3\""), ElementsAre("eth1", "eth 2", "eth3"));
    for (const auto* for_a_shell : {"$[", "$[$$", "$((1", "${PORTS}", "$(ls)", "`ls`"})
        EXPECT_THAT(shell_words(for_a_shell), IsEmpty()) << for_a_shell;
}

TEST(SettingsFile, reads_times_of_systemd) {
    EXPECT_EQ(100, milliseconds_of("100ms", "s"));
    EXPECT_EQ(1500, milliseconds_of("1s 500ms", "s"));
    EXPECT_EQ(2000, milliseconds_of("2", "s"));
    EXPECT_EQ(2, milliseconds_of("2", "ms"));
    for (const auto* wrong : {"", "fast", "1x", "-1", "1e300"})
        EXPECT_EQ(std::nullopt, milliseconds_of(wrong, "s")) << wrong;
}

} // namespace
} // namespace teamo::ctl
