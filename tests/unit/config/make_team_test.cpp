// SPDX-License-Identifier: LGPL-2.1-or-later
#include "support.h"

#include <filesystem>
#include <fstream>

namespace teamo {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::pair<std::string, PortConfig> named(std::string name, std::int32_t prio) {
    PortConfig port;
    port.prio = prio;
    return {std::move(name), port};
}

ArpPingWatch arp_ping(std::string target) {
    ArpPingWatch watch;
    watch.target_host = std::move(target);
    return watch;
}

TEST(ConfigReader, uses_defaults_for_empty_file) {
    EXPECT_EQ(team("{}"), TeamConfig{});
    EXPECT_EQ(team(R"({"runner": {}, "ports": {}, "notify_peers": {}, "mcast_rejoin": {}})"), TeamConfig{});
}

TEST(ConfigReader, gives_every_runner_its_defaults) {
    const std::pair<const char*, RunnerConfig> runners[] = {
        {"broadcast", BroadcastRunner{}},
        {"roundrobin", RoundRobinRunner{}},
        {"random", RandomRunner{}},
        {"activebackup", ActiveBackupRunner{}},
        {"loadbalance", LoadBalanceRunner{}},
        {"lacp", LacpRunner{}},
        {"slb", SlbRunner{}},
    };
    for (const auto& [name, runner] : runners) {
        EXPECT_EQ(team(fmt::format(R"({{"runner": {{"name": "{}"}}}})", name)).runner, runner) << name;
        EXPECT_STREQ(name_of(runner), name);
    }
}

TEST(ConfigReader, reads_slb) {
    const auto read = team(R"({"runner": {"name": "slb", "tx_balancer": {"name": "basic"}}})");
    EXPECT_TRUE(read.balance.on);
    EXPECT_EQ(hash_fields_of(read.runner), HashFields{} | HashField::source);
    EXPECT_EQ(read.notify_peers, (Repetition{2, milliseconds{1000}, false}));
    EXPECT_EQ(team(R"({"runner": {"name": "slb"}, "notify_peers": {"count": 3}})").notify_peers,
              (Repetition{3, milliseconds{0}, true}));
    EXPECT_FALSE(team(R"({"runner": {"name": "slb"}})").balance.on);
    const auto other = read_configuration(R"({"runner": {"name": "lacp", "tx_hash": ["source"]}})");
    ASSERT_TRUE(other.configuration);
    EXPECT_EQ(hash_fields_of(other.configuration->team.runner), 0U) << "no word of tx_hash";
}

TEST(ConfigReader, reads_every_global_option) {
    const auto read = team(R"({
        "device": "team7", "debug_level": 2, "hwaddr": "52:54:00:AA:BB:C", "link_watch_policy": "all",
        "notify_peers": {"count": 3, "interval": 50}, "mcast_rejoin": {"count": 0, "interval": 60},
        "datapath": "bpf", "offload": {"lacking": "accept"}, "balance": {"aware": true},
        "interrupts": {"policy": "unique"}, "workers": [{"user": "www-data"}], "guard": "arp"})");
    EXPECT_EQ(read.device, "team7");
    EXPECT_EQ(read.guard, GuardMode::arp);
    EXPECT_EQ(read.debug_level, 2U);
    EXPECT_EQ(read.hwaddr, (MacAddress{{0x52, 0x54, 0x00, 0xaa, 0xbb, 0x0c}}));
    EXPECT_EQ(read.link_watch_policy, LinkWatchPolicy::all);
    EXPECT_EQ(read.notify_peers, (Repetition{3, milliseconds{50}, true}));
    EXPECT_EQ(read.mcast_rejoin, (Repetition{0, milliseconds{60}, true}));
    EXPECT_EQ(read.datapath, DatapathChoice::bpf);
    EXPECT_EQ(team(R"({"datapath": "team"})").datapath, DatapathChoice::team);
    EXPECT_EQ(team(R"({"datapath": "auto"})").datapath, DatapathChoice::automatic);
}

TEST(ConfigReader, leaves_a_bond_of_others_its_interrupts_and_balances_it) {
    const auto read = team(R"({"attach": true})");
    EXPECT_TRUE(read.attach);
    EXPECT_TRUE(read.balance.on);
    EXPECT_EQ(read.interrupts.policy, InterruptPolicy::off);
    EXPECT_EQ(team(R"({"attach": true, "interrupts": {"policy": "unique"}})").interrupts.policy,
              InterruptPolicy::unique);
    EXPECT_FALSE(read.chooses_active);
    EXPECT_TRUE(team(R"({"attach": true, "runner": {"name": "activebackup"}})").chooses_active);
    EXPECT_FALSE(team(R"({"runner": {"name": "activebackup"}})").chooses_active);
    // The document is read again after each `port config update`.
    const auto first = read_configuration("{}", "bond0", /*attach=*/true);
    ASSERT_TRUE(first.configuration);
    EXPECT_TRUE(read_document(first.configuration->document).configuration);
}

TEST(ConfigReader, reads_runner_options) {
    EXPECT_EQ(team(R"({"runner": {"name": "activebackup", "hwaddr_policy": "only_active"}})").runner,
              RunnerConfig(ActiveBackupRunner{HwaddrPolicy::only_active}));
    EXPECT_EQ(team(R"({"runner": {"name": "activebackup", "hwaddr_policy": "by_active"}})").runner,
              RunnerConfig(ActiveBackupRunner{HwaddrPolicy::by_active}));
    EXPECT_EQ(team(R"({"runner": {"name": "lacp", "active": false, "fast_rate": true, "sys_prio": 7,
                       "min_ports": 1024, "agg_select_policy": "bandwidth", "tx_hash": ["l4"],
                       "tx_balancer": {"name": "basic", "balancing_interval": 1}}})")
                  .runner,
              RunnerConfig(LacpRunner{.active = false,
                                      .fast_rate = true,
                                      .sys_prio = 7,
                                      .agg_select_policy = AggSelectPolicy::bandwidth,
                                      .tx_hash = (HashField::tcp | HashField::udp) | HashField::sctp,
                                      .tx_balancer = TxBalancer{milliseconds{100}}}));
}

TEST(ConfigReader, reads_min_ports_of_every_runner) {
    EXPECT_EQ(team("{}").min_ports, 1);
    for (const auto name : runner_names) {
        const auto read = team(fmt::format(R"({{"runner": {{"name": "{}", "min_ports": 3}}}})", name));
        EXPECT_EQ(read.min_ports, 3) << name;
        EXPECT_TRUE(withholds_carrier(read)) << name;
    }
    EXPECT_FALSE(withholds_carrier(team("{}")));
}

TEST(ConfigReader, takes_the_damping_of_the_first_watch_that_has_one) {
    EXPECT_EQ(team(R"({"link_watch": {"name": "ethtool"}, "ports": {"eth1": {}}})").ports[0].second.damping,
              std::nullopt);
    const auto read = team(R"({
        "link_watch": [{"name": "arp_ping", "target_host": "a"}, {"name": "ethtool", "damping": {}},
                       {"name": "loss", "damping": {"penalty": 9}}],
        "ports": {"eth1": {},
                  "eth2": {"link_watch": {"name": "ethtool", "damping": {"penalty": 500, "half_life": 1000,
                           "suppress": 3000, "reuse": 700, "max_suppress": 9000}}}}})");
    EXPECT_EQ(read.damping, DampingConfig{});
    EXPECT_EQ(read.ports[0].second.damping, DampingConfig{});
    EXPECT_EQ(read.ports[1].second.damping, (DampingConfig{.penalty = 500,
                                                           .suppress = 3000,
                                                           .reuse = 700,
                                                           .half_life = milliseconds{1000},
                                                           .max_suppress = milliseconds{9000}}));
}

TEST(ConfigReader, reads_weights) {
    const auto read = team(R"({"runner": {"name": "lacp"}, "ports": {"eth1": {"weight": 40}, "eth2": {}}})");
    EXPECT_EQ(read.ports[0].second.weight, 40U);
    EXPECT_EQ(read.ports[1].second.weight, std::nullopt);
}

TEST(ConfigReader, reads_every_aggregator_policy) {
    const std::pair<const char*, AggSelectPolicy> policies[] = {
        {"lacp_prio", AggSelectPolicy::lacp_prio},
        {"lacp_prio_stable", AggSelectPolicy::lacp_prio_stable},
        {"bandwidth", AggSelectPolicy::bandwidth},
        {"count", AggSelectPolicy::count},
        {"port_config", AggSelectPolicy::port_config},
    };
    for (const auto& [name, policy] : policies) {
        const auto read =
            team(fmt::format(R"({{"runner": {{"name": "lacp", "agg_select_policy": "{}"}}}})", name));
        EXPECT_EQ(std::get<LacpRunner>(read.runner).agg_select_policy, policy) << name;
    }
}

TEST(ConfigReader, combines_tx_hash_fields) {
    using enum HashField;
    const std::pair<const char*, HashFields> hashes[] = {
        {R"(["eth"])", 1U},
        {R"(["vlan"])", 2U},
        {R"(["ipv4"])", 4U},
        {R"(["ipv6"])", 8U},
        {R"(["tcp"])", 16U},
        {R"(["udp"])", 32U},
        {R"(["sctp"])", 64U},
        {R"(["ip"])", ipv4 | ipv6},
        {R"(["l3"])", ipv4 | ipv6},
        {R"(["l4"])", (tcp | udp) | sctp},
        {R"(["eth", "l3", "eth", "tcp"])", ((eth | ipv4) | ipv6) | tcp},
        {R"(["cpu"])", 128U},
        {R"(["cpu", "l3"])", (cpu | ipv4) | ipv6},
        {"[]", 0U}, // as with teamd: an empty list replaces the default
    };
    for (const auto& [text, hash] : hashes) {
        const auto read =
            team(fmt::format(R"({{"runner": {{"name": "loadbalance", "tx_hash": {}}}}})", text));
        EXPECT_EQ(std::get<LoadBalanceRunner>(read.runner).tx_hash, hash) << text;
    }
}

TEST(ConfigReader, disables_balancing_for_cpu_hash) {
    const auto read = [](std::string_view hash) {
        const auto text = fmt::format(R"({{"balance": {{"aware": true}}, "runner": {{"name": "loadbalance",
                                            "tx_hash": {}, "tx_balancer": {{"name": "basic"}}}}}})",
                                      hash);
        return read_configuration(text).configuration.value().team;
    };
    EXPECT_TRUE(read(R"(["l3"])").balance.on);
    EXPECT_FALSE(read(R"(["l3", "cpu"])").balance.on);
}

TEST(ConfigReader, reads_balancing_interval_in_units_of_100_ms) {
    const std::pair<const char*, std::optional<TxBalancer>> balancers[] = {
        {"{}", std::nullopt},
        {R"({"balancing_interval": 10})", std::nullopt}, // off without a name
        {R"({"name": "basic"})", TxBalancer{milliseconds{5000}}},
        {R"({"name": "basic", "balancing_interval": 1})", TxBalancer{milliseconds{100}}},
        {R"({"name": "basic", "balancing_interval": 0})", TxBalancer{milliseconds{0}}},
    };
    for (const auto& [text, balancer] : balancers) {
        const auto read =
            team(fmt::format(R"({{"runner": {{"name": "loadbalance", "tx_balancer": {}}}}})", text));
        EXPECT_EQ(std::get<LoadBalanceRunner>(read.runner).tx_balancer, balancer) << text;
    }
}

TEST(ConfigReader, notifies_peers_once_by_default_with_activebackup) {
    const auto silent = team(R"({"runner": {"name": "activebackup"}})");
    EXPECT_EQ(silent.notify_peers, (Repetition{1, milliseconds{0}, false}));
    EXPECT_EQ(silent.mcast_rejoin, (Repetition{1, milliseconds{0}, false}));
    const auto said = team(R"({"runner": {"name": "activebackup"}, "notify_peers": {"count": 0},
                               "mcast_rejoin": {"interval": 20}})");
    EXPECT_EQ(said.notify_peers, (Repetition{0, milliseconds{0}, true}));
    EXPECT_EQ(said.mcast_rejoin, (Repetition{1, milliseconds{20}, false}));
}

TEST(ConfigReader, reads_every_port_option) {
    EXPECT_EQ(port("{}"), PortConfig{});
    EXPECT_EQ(port(R"({"queue_id": 4, "prio": -10, "sticky": true, "lacp_prio": 0, "lacp_key": 65535})"),
              (PortConfig{.queue_id = 4, .prio = -10, .sticky = true, .lacp_prio = 0, .lacp_key = 65535}));
    EXPECT_EQ(port(R"({"drain": true})"), (PortConfig{.queue_id = {}, .drain = true}));
    EXPECT_EQ(port(R"({"prio": -2147483648, "queue_id": 0})"),
              (PortConfig{.queue_id = 0, .prio = std::numeric_limits<std::int32_t>::min()}));
}

TEST(ConfigReader, keeps_offloads_by_default) {
    const auto read = team(R"({"ports": {"eth1": {}}})");
    EXPECT_EQ(read.offload, OffloadContract{});
    EXPECT_EQ(read.offload.lacking, Lacking::accept);
    EXPECT_TRUE(read.offload.repair);
    EXPECT_EQ(read.ports[0].second.offload, OffloadContract{});
}

TEST(ConfigReader, reads_offload_contracts_of_team_and_port) {
    const auto read = team(R"({
        "offload": {"tx-tcp-segmentation": "require", "gro": "off", "lacking": "demote", "repair": false},
        "ports": {"eth1": {"offload": {"tso": "off", "tx-tcp6-segmentation": "keep", "lacking": "refuse"}},
                  "eth2": {}}})");
    using enum OffloadWish;
    EXPECT_EQ(read.offload.wishes,
              (decltype(read.offload.wishes){{"tx-tcp-segmentation", require}, {"rx-gro", off}}));
    EXPECT_EQ(read.offload.lacking, Lacking::demote);
    EXPECT_FALSE(read.offload.repair);
    const auto& own = read.ports[0].second.offload;
    EXPECT_EQ(own.wishes.at("tx-tcp-segmentation"), off);
    EXPECT_EQ(own.wishes.at("tx-tcp6-segmentation"), keep); // a single feature overrides its group
    EXPECT_EQ(own.wishes.at("rx-gro"), off);
    EXPECT_EQ(own.lacking, Lacking::refuse);
    EXPECT_FALSE(own.repair);
    EXPECT_EQ(read.ports[1].second.offload, read.offload);
}

TEST(ConfigReader, keeps_port_names_and_order) {
    const auto read = team(R"({"ports": {"eth1.100": {"prio": 5}, "eth0": {}, "a[b]": {"prio": 6}}})");
    ASSERT_EQ(read.ports.size(), 3U);
    EXPECT_EQ(read.ports[0], named("eth1.100", 5));
    EXPECT_EQ(read.ports[1], named("eth0", 0));
    EXPECT_EQ(read.ports[2], named("a[b]", 6));
}

TEST(ConfigReader, reads_every_link_watch) {
    EXPECT_EQ(team(R"({"link_watch": [
                  {"name": "ethtool"},
                  {"name": "ethtool", "delay_up": 2500, "delay_down": 1000},
                  {"name": "arp_ping", "target_host": "192.0.2.1"},
                  {"name": "arp_ping", "interval": 100, "init_wait": 5, "missed_max": 30, "source_host": "a",
                   "target_host": "b", "validate_active": true, "validate_inactive": true,
                   "send_always": true, "vlanid": 4095},
                  {"name": "nsna_ping", "target_host": "fe80::1"},
                  {"name": "nsna_ping", "interval": 0, "init_wait": 7, "missed_max": 0, "target_host": "::1"},
                  {"name": "tipc", "tipc_bearer": "vlan0"}]})")
                  .link_watches,
              (std::vector<LinkWatch>{
                  EthtoolWatch{},
                  EthtoolWatch{milliseconds{2500}, milliseconds{1000}},
                  arp_ping("192.0.2.1"),
                  ArpPingWatch{.interval = milliseconds{100},
                               .init_wait = milliseconds{5},
                               .missed_max = 30,
                               .source_host = "a",
                               .target_host = "b",
                               .validate_active = true,
                               .validate_inactive = true,
                               .send_always = true,
                               .vlanid = 4095},
                  NsnaPingWatch{.target_host = "fe80::1"},
                  NsnaPingWatch{.interval = milliseconds{0},
                                .init_wait = milliseconds{7},
                                .missed_max = 0,
                                .target_host = "::1"},
                  TipcWatch{"vlan0"},
              }));
}

// link_watch_event_watch_port_added of teamd_link_watch.c: the state's link_watch_0 is the port's own.
TEST(ConfigReader, appends_team_watches_to_port_watches) {
    const auto read = team(R"({"link_watch": {"name": "tipc", "tipc_bearer": "t"}, "ports": {
        "eth1": {"link_watch": {"name": "ethtool", "delay_up": 1}}, "eth2": {}, "eth3": {"link_watch": []}}})");
    EXPECT_THAT(read.link_watches, ElementsAre(LinkWatch(TipcWatch{"t"})));
    EXPECT_THAT(read.ports[0].second.link_watches,
                ElementsAre(LinkWatch(EthtoolWatch{milliseconds{1}}), LinkWatch(TipcWatch{"t"})));
    EXPECT_THAT(read.ports[1].second.link_watches, ElementsAre(LinkWatch(TipcWatch{"t"})));
    EXPECT_THAT(read.ports[2].second.link_watches, ElementsAre(LinkWatch(TipcWatch{"t"})));
}

TEST(ConfigReader, defaults_to_ethtool_watch) {
    EXPECT_THAT(port("{}").link_watches, ElementsAre(LinkWatch(EthtoolWatch{})));
    EXPECT_THAT(team(R"({"link_watch": [], "ports": {"eth1": {}}})").ports[0].second.link_watches,
                ElementsAre(LinkWatch(EthtoolWatch{})));
    EXPECT_THAT(team("{}").link_watches, IsEmpty());
}

TEST(ConfigReader, device_option_overrides_file) {
    const auto read = configuration(R"({"device": "team0"})", "team1");
    EXPECT_EQ(read.team.device, "team1");
    EXPECT_EQ(*read.document.find("device"), json::Value("team1"));
    EXPECT_EQ(configuration(R"({"device": "not/a/name"})", "team1").team.device, "team1");
}

TEST(ConfigReader, reads_libteam_examples) {
    const std::filesystem::path examples = "/usr/share/doc/libteam-utils/examples";
    ASSERT_TRUE(std::filesystem::exists("/usr/bin/teamd")) << "apt-get install libteam-utils";
    if (!std::filesystem::exists(examples) || std::filesystem::is_empty(examples))
        GTEST_SKIP() << "dpkg installs no documents here";
    int count = 0;
    for (const auto& file : std::filesystem::directory_iterator(examples)) {
        std::ifstream stream(file.path());
        const std::string text{std::istreambuf_iterator<char>(stream), {}};
        const auto read = read_configuration(text);
        EXPECT_THAT(complaints(read), IsEmpty()) << file.path();
        ASSERT_TRUE(read.configuration) << file.path();
        EXPECT_EQ(read.configuration->team.device, "team0") << file.path();
        EXPECT_EQ(read.configuration->team.ports.size(), 2U) << file.path();
        ++count;
    }
    EXPECT_GE(count, 16);
}

TEST(ConfigReader, accepts_only_object_as_port_configuration) {
    EXPECT_EQ(parse_port_configuration(R"({"prio": 5})"), json::Value(json::Object{{"prio", 5}}));
    EXPECT_EQ(parse_port_configuration("[]").error(),
              (Error{EINVAL, "a port's configuration must be an object, not an array"}));
    EXPECT_EQ(parse_port_configuration("{\"prio\":\n").error(),
              (Error{EINVAL, "2:1: the text ends too early: the document is incomplete"}));
}

} // namespace
} // namespace teamo
