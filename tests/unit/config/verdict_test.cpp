// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which configurations teamd accepts and which it refuses, by option (libteam 1.32).
#include "config/keys.h"
#include "support.h"

namespace teamo {
namespace {

using enum Verdict;
using testing::ElementsAre, testing::HasSubstr;

struct Case {
    const char* text;
    Verdict verdict;
};

std::string runner(std::string_view options) { return fmt::format(R"({{"runner": {}}})", options); }
std::string lacp(std::string_view option) {
    return fmt::format(R"({{"runner": {{"name": "lacp", {}}}}})", option);
}
std::string port_text(std::string_view option, std::string_view runner = "lacp") {
    return fmt::format(R"({{"runner": {{"name": "{}"}}, "ports": {{"eth1": {{{}}}}}}})", runner, option);
}
std::string watch(std::string_view options) { return fmt::format(R"({{"link_watch": {}}})", options); }

TEST(ConfigVerdict, checks_global_options) {
    const Case cases[] = {
        {R"({"device": "team0"})", good},
        {R"({"device": 1})", refused}, // teamd cannot write its default back
        {R"({"debug_level": -1})", tolerated},
        {R"({"debug_level": 2147483648})", tolerated},
        {R"({"debug_level": "2"})", tolerated},
        {R"({"hwaddr": "52:54:00:aa:bb:cc"})", good},
        {R"({"hwaddr": "52:54:00:aa:bb"})", refused},
        {R"({"hwaddr": ""})", refused},
        // A probe would teach the switches the team's address at each port.
        {R"({"runner": {"name": "slb"}, "link_watch": {"name": "tipc", "tipc_bearer": "eth"}})", refused},
        {R"({"runner": {"name": "slb"}, "link_watch": {"name": "arp_ping", "target_host": "10.0.0.9"}})",
         refused},
        {R"({"runner": {"name": "slb"}, "ports": {"eth1": {"link_watch":
             {"name": "nsna_ping", "target_host": "fd00::9"}}}})",
         refused},
        {R"({"hwaddr": "01:00:5e:00:00:01"})", refused}, // of a group
        {R"({"hwaddr": "ff:ff:ff:ff:ff:ff"})", refused},
        {R"({"hwaddr": "0:0:0:0:0:0"})", refused},
        {R"({"hwaddr": 5})", tolerated},
        {R"({"notify_peers": {"count": -1}})", refused},
        {R"({"notify_peers": {"interval": -1}})", refused},
        {R"({"mcast_rejoin": {"count": 4294967296}})", refused},
        {R"({"mcast_rejoin": {"interval": 2147483648}})", refused},
        {R"({"notify_peers": {"count": "1"}})", tolerated},
        {R"({"notify_peers": 1})", tolerated},
        {R"({"link_watch_policy": "some"})", refused},
        {R"({"link_watch_policy": true})", tolerated},
        {R"({"attach": true, "ports": {"eth1": {"prio": 1}}, "interrupts": {"policy": "unique"}})", good},
        {R"({"attach": true, "runner": {"name": "lacp"}})", refused},
        {R"({"attach": true, "runner": {"name": "activebackup"}})", good},
        {R"({"attach": true, "runner": {"name": "activebackup", "hwaddr_policy": "by_active"}})", refused},
        {R"({"attach": true, "hwaddr": "52:54:00:aa:bb:cc"})", refused},
        {R"({"attach": false, "runner": {"name": "lacp"}})", good},
        {R"({"attach": 1})", refused},
        {R"({"datapath": "ebpf"})", refused},
        {R"({"datapath": 1})", refused},
        {R"({"offload": "keep"})", refused},
        {R"({"balance": true})", refused},
        {R"({"interrupts": []})", refused},
        {R"({"workers": {}})", refused},
        {R"({"workers": []})", good},
        {R"({"workers": [1]})", refused},
        {R"({"guard": {}})", refused},
        {R"({"guard": "arp"})", good},
        {R"({"guard": "all"})", refused},
    };
    for (const auto& [text, expected] : cases)
        EXPECT_EQ(verdict(text), expected) << text;
}

TEST(ConfigVerdict, checks_runner_options) {
    EXPECT_EQ(verdict(R"({"runner": "lacp"})"), refused);
    EXPECT_EQ(verdict(runner(R"({"name": "LACP"})")), refused);
    EXPECT_EQ(verdict(runner(R"({"name": 1})")), refused);
    EXPECT_EQ(verdict(runner(R"({"name": "activebackup", "hwaddr_policy": "x"})")), refused);
    EXPECT_EQ(verdict(runner(R"({"name": "activebackup", "hwaddr_policy": 1})")), tolerated);
    const Case cases[] = {
        {R"("active": "true")", tolerated}, // an old mistake of SONiC
        {R"("fast_rate": 1)", tolerated},
        {R"("sys_prio": 65536)", refused},
        {R"("sys_prio": -1)", refused},
        {R"("system": "02:00:00:00:00:99")", good},
        {R"("system": "03:00:00:00:00:99")", refused}, // of a group
        {R"("system": "02:00")", refused},
        {R"("sys_prio": 1.0)", tolerated},
        {R"("min_ports": 0)", refused},
        {R"("min_ports": 1025)", refused},
        {R"("min_ports": "1")", tolerated},
        {R"("agg_select_policy": "best")", refused},
        {R"("agg_select_policy": 1)", tolerated},
        {R"("tx_hash": "eth")", tolerated},
        {R"("tx_hash": ["eht"])", tolerated},
        {R"("tx_hash": [1])", tolerated},
        {R"("tx_balancer": "basic")", tolerated},
        {R"("tx_balancer": {"name": "clever"})", tolerated},
        {R"("tx_balancer": {"name": 1})", tolerated},
        {R"("tx_balancer": {"name": "basic", "balancing_interval": -1})", tolerated},
        {R"("tx_balancer": {"name": "basic", "balancing_interval": "50"})", tolerated},
    };
    for (const auto& [text, expected] : cases)
        EXPECT_EQ(verdict(lacp(text)), expected) << text;
}

TEST(ConfigVerdict, warns_of_errors_in_options_of_other_runners_and_link_watches) {
    for (const auto& text :
         {runner(R"({"name": "roundrobin", "sys_prio": 65536})"),
          runner(R"({"name": "lacp", "hwaddr_policy": "x"})"),
          runner(R"({"name": "activebackup", "tx_hash": ["eht"]})"),
          port_text(R"("lacp_prio": 65536)", "activebackup"), watch(R"({"name": "ethtool", "interval": -1})"),
          watch(R"({"name": "ethtool", "target_host": 1})")}) {
        EXPECT_EQ(verdict(text), good) << text;
        EXPECT_THAT(complaints(text), ElementsAre(HasSubstr("this key has no effect, because "))) << text;
    }
    EXPECT_THAT(complaints(runner(R"({"name": "loadbalance", "active": "true"})")), // SONiC writes it
                ElementsAre("1:46: warning: /runner/active: must be true or false, not a string; this key "
                            "has no effect, because loadbalance does not use it"));
}

TEST(ConfigVerdict, checks_port_options) {
    const Case cases[] = {
        {R"("queue_id": -1)", refused},      {R"("queue_id": 65536)", refused},
        {R"("queue_id": "1")", tolerated},   {R"("prio": 2147483648)", refused},
        {R"("prio": -2147483649)", refused}, {R"("prio": "10")", tolerated},
        {R"("sticky": "true")", tolerated},  {R"("lacp_prio": 65536)", refused},
        {R"("lacp_prio": null)", tolerated}, {R"("lacp_key": -1)", refused},
        {R"("lacp_key": {})", tolerated},    {R"("link_watch": "ethtool")", refused},
    };
    for (const auto& [text, expected] : cases)
        EXPECT_EQ(verdict(port_text(text)), expected) << text;
    EXPECT_EQ(verdict(R"({"ports": ["eth1", "eth2"]})"), tolerated);
    EXPECT_EQ(verdict(R"({"ports": {"eth1": null}})"), tolerated);
}

TEST(ConfigVerdict, checks_device_names) {
    for (const auto* name : {"", ".", "..", "a/b", "a b", "a\\tb", "a:b", "a\\u00e0"}) {
        EXPECT_EQ(verdict(fmt::format(R"({{"device": "{}"}})", name)), refused) << name;
        EXPECT_EQ(verdict(fmt::format(R"({{"ports": {{"{}": {{}}}}}})", name)), refused) << name;
    }
    for (const auto* name : {"a", "...", "fifteen-letters", "eth1.100", "a[0]", "\\u00e9"}) {
        EXPECT_EQ(verdict(fmt::format(R"({{"device": "{}"}})", name)), good) << name;
        EXPECT_EQ(verdict(fmt::format(R"({{"ports": {{"{}": {{}}}}}})", name)), good) << name;
    }
    for (const auto* name : {"sixteen-letters-", "team%d", "all", "default"}) {
        EXPECT_EQ(verdict(fmt::format(R"({{"device": "{}"}})", name)), refused) << name;
        EXPECT_EQ(verdict(fmt::format(R"({{"ports": {{"{}": {{}}}}}})", name)), good)
            << name << " may be an alternative name";
    }
    const std::string longest(127, 'x');
    EXPECT_EQ(verdict(fmt::format(R"({{"ports": {{"{}": {{}}}}}})", longest)), good);
    EXPECT_EQ(verdict(fmt::format(R"({{"ports": {{"{}x": {{}}}}}})", longest)), refused);
    EXPECT_FALSE(read_configuration("{}", "not/a/name").configuration);
}

TEST(ConfigVerdict, refuses_ninth_port) {
    std::string text =
        R"({"ports": {"p1": {}, "p2": {}, "p3": {}, "p4": {}, "p5": {}, "p6": {}, "p7": {}, "p8": {})";
    EXPECT_EQ(verdict(text + "}}"), good);
    text += R"(, "p9": {}, "p10": {}}})";
    EXPECT_EQ(verdict(text), refused);
    EXPECT_THAT(complaints(text),
                ElementsAre("1:92: error: /ports/p9: too many ports: a team has at most 8"));
}

TEST(ConfigVerdict, checks_link_watches) {
    const Case cases[] = {
        {"1", refused},
        {R"("ethtool")", refused},
        {"{}", refused},
        {"[1]", refused},
        {"[]", good},
        {R"({"name": 1})", refused},
        {R"({"name": "ethtools"})", refused},
        {R"({"name": "ethtool", "delay_up": -1})", refused},
        {R"({"name": "ethtool", "delay_down": 2147483648})", refused},
        {R"({"name": "ethtool", "delay_up": "1"})", tolerated},
        {R"({"name": "arp_ping"})", refused},
        {R"({"name": "arp_ping", "target_host": 1})", refused},
        {R"({"name": "arp_ping", "target_host": "a", "source_host": 1})", tolerated},
        {R"({"name": "arp_ping", "target_host": "a", "source_host": "::1"})", refused},
        {R"({"name": "arp_ping", "target_host": "a", "interval": -1})", refused},
        {R"({"name": "arp_ping", "target_host": "a", "missed_max": -1})", refused},
        {R"({"name": "arp_ping", "target_host": "a", "init_wait": -1})", tolerated},
        {R"({"name": "arp_ping", "target_host": "a", "vlanid": 4096})", refused},
        {R"({"name": "arp_ping", "target_host": "a", "vlanid": -1})", refused},
        {R"({"name": "arp_ping", "target_host": "a", "vlanid": "1"})", tolerated},
        {R"({"name": "arp_ping", "target_host": "a", "validate_active": 1})", tolerated},
        {R"({"name": "arp_ping", "target_host": "a", "validate_inactive": 1})", tolerated},
        {R"({"name": "arp_ping", "target_host": "a", "send_always": 1})", tolerated},
        {R"({"name": "nsna_ping"})", refused},
        {R"({"name": "nsna_ping", "target_host": "::1", "vlanid": 4096})", good},
        {R"({"name": "tipc"})", refused},
        {R"({"name": "tipc", "tipc_bearer": 1})", refused},
        {R"({"name": "tipc", "tipc_bearer": "31_letters_are_what_a_bearer_has"})", refused},
        {R"({"name": "tipc", "tipc_bearer": "31_letters_are_what_a_bearer_ha"})", good},
        {R"({"name": "ethtool", "damping": {}})", good},
        {R"({"name": "ethtool", "damping": true})", refused},
        {R"({"name": "ethtool", "damping": {"half_life": 0}})", refused},
        {R"({"name": "ethtool", "damping": {"penalty": "1"}})", refused},
        {R"({"name": "ethtool", "damping": {"suppress": 1001}})", good},
        {R"({"name": "ethtool", "damping": {"suppress": 1000}})", refused}, // reuse is 1000
        {R"({"name": "ethtool", "damping": {"reuse": 2000}})", refused},
    };
    for (const auto& [text, expected] : cases) {
        EXPECT_EQ(verdict(watch(text)), expected) << text;
        EXPECT_EQ(verdict(port_text(fmt::format(R"("link_watch": {})", text))), expected) << text;
    }
}

TEST(ConfigVerdict, uses_default_for_tolerated_errors) {
    const std::pair<std::string, std::string> same[] = {
        {R"({"debug_level": -1})", "{}"},
        {R"({"hwaddr": 5, "ports": 7, "link_watch_policy": 1, "notify_peers": [], "mcast_rejoin": {"count": "1"}})",
         "{}"},
        {runner(R"({"name": "activebackup", "hwaddr_policy": 1})"), runner(R"({"name": "activebackup"})")},
        {lacp(
             R"("active": "no", "fast_rate": 1, "sys_prio": "x", "min_ports": 1.5, "agg_select_policy": [])"),
         runner(R"({"name": "lacp"})")},
        {lacp(R"("tx_hash": "eth", "tx_balancer": {"name": "clever"})"), runner(R"({"name": "lacp"})")},
        {lacp(R"("tx_hash": ["eth", "x", 1])"), lacp(R"("tx_hash": ["eth"])")},
        {lacp(R"("tx_balancer": {"name": "basic", "balancing_interval": -1})"),
         lacp(R"("tx_balancer": {"name": "basic"})")},
        {port_text(R"("queue_id": "1", "prio": "1", "sticky": 1, "lacp_prio": "1", "lacp_key": "1")"),
         port_text("")},
        {R"({"ports": {"eth1": null}})", R"({"ports": {"eth1": {}}})"},
        {watch(
             R"({"name": "arp_ping", "target_host": "a", "interval": "1", "init_wait": -1, "missed_max": "1",
                   "source_host": 1, "validate_active": 1, "validate_inactive": 1, "send_always": 1, "vlanid": "1"})"),
         watch(R"({"name": "arp_ping", "target_host": "a"})")},
        {watch(R"({"name": "ethtool", "delay_up": "1", "delay_down": 1.0})"),
         watch(R"({"name": "ethtool"})")},
    };
    for (const auto& [wrong, right] : same) {
        const auto read = read_configuration(wrong);
        ASSERT_TRUE(read.configuration) << wrong;
        EXPECT_TRUE(read.has_errors()) << wrong;
        for (const auto& diagnostic : read.diagnostics)
            EXPECT_TRUE(diagnostic.tolerated) << wrong;
        EXPECT_EQ(read.configuration->team, team(right)) << wrong;
    }
}

// For every key of the table, so that a new key is included.
TEST(ConfigVerdict, reports_wrong_type_for_every_key) {
    for (const auto& key : config::keys()) {
        json::Value inner = key.rules.shape == config::Shape::boolean ? json::Value("x") : json::Value(true);
        std::string pointer;
        auto path = key.path;
        for (auto dot = path.rfind('.'); !path.empty(); dot = path.rfind('.')) {
            const auto word = path.substr(dot + 1);
            const auto name = word == "PORTIFNAME" ? "eth1" : word == "FEATURE" ? "tso" : word;
            inner = json::Object{{std::string(name), std::move(inner)}};
            pointer.insert(0, fmt::format("/{}", name));
            path = dot == std::string_view::npos ? "" : path.substr(0, dot);
            if (const auto* holder = config::find_key(path);
                holder && holder->rules.shape == config::Shape::objects) {
                inner = json::Array{std::move(inner)};
                pointer.insert(0, "/0");
            }
        }
        const auto read = read_document(inner);
        const auto found = std::ranges::find(read.diagnostics, pointer, &Diagnostic::pointer);
        ASSERT_NE(found, read.diagnostics.end()) << key.path;
        const bool is_read = key.is_used_by("roundrobin") || key.path.starts_with("link_watch");
        EXPECT_EQ(found->severity == Diagnostic::Severity::error, is_read) << key.path;
        EXPECT_EQ(found->tolerated, is_read && key.rules.wrong_shape == config::Fault::tolerated) << key.path;
        EXPECT_THAT(found->text, HasSubstr("must be")) << key.path;
    }
}

} // namespace
} // namespace teamo
