// SPDX-License-Identifier: LGPL-2.1-or-later
#include "control/state_document.h"
#include "json/parse.h"
#include "json/write.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace teamo::control {
namespace {

std::optional<std::string> item_at(const json::Value& document, std::string_view path) {
    const auto names = split_item_path(path);
    return names ? state_item(document, *names) : std::nullopt;
}

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::Optional;

/// Both sides in the format of teamd, so that the order of keys does not matter.
std::string dump(std::string_view text) {
    const auto value = json::parse(text);
    EXPECT_TRUE(value.has_value()) << text;
    return value ? json::write(*value) : "";
}
std::string dump(const TeamStatus& status) { return json::write(state_document(status)); }

std::string part(const TeamStatus& status, std::initializer_list<std::string_view> path) {
    const auto document = state_document(status);
    const auto* at = &document;
    for (const auto name : path)
        if (at = at->find(name); !at) return "nothing";
    return json::write(*at);
}

TeamStatus team_without_ports() {
    TeamStatus status;
    status.name = "team0";
    status.ifindex = IfIndex{9};
    status.address = MacAddress{{0x52, 0x54, 0, 0xaa, 0xbb, 0xcc}};
    status.link = {.up = true, .speed = 20000, .duplex = Duplex::full};
    status.runner = LoadBalanceRunner{};
    status.datapath = "bpf";
    status.counts_by_program = true;
    status.device_kind = "veth";
    status.pid = 1234;
    status.pid_file = "/var/run/teamd/team0.pid";
    status.debug_level = 2;
    status.version = "1.2.3";
    return status;
}

PortStatus port(const std::string& name, std::uint32_t ifindex) {
    PortStatus status;
    status.name = name;
    status.ifindex = IfIndex{ifindex};
    status.address = MacAddress{{0x52, 0x54, 0, 0xaa, 0xbb, 0xcc}};
    status.link = {.up = true, .speed = 10000, .duplex = Duplex::full};
    status.link_up = true;
    status.watches = {{.watch = EthtoolWatch{}, .up = true}};
    return status;
}

TeamStatus team_with(PortStatus status) {
    auto team = team_without_ports();
    team.ports = {std::move(status)};
    return team;
}

TEST(StateDocument, omits_ports_key_without_ports) {
    EXPECT_EQ(dump(team_without_ports()), dump(R"({
        "datapath": {"buckets": {}, "counts_by_program": true, "device_kind": "veth", "kernel_hashes": false,
                     "min_ports": 1, "name": "bpf", "sees_links": false},
        "setup": {
            "daemonized": false, "dbus_enabled": false, "debug_level": 2,
            "kernel_team_mode_name": "loadbalance", "pid": 1234, "pid_file": "/var/run/teamd/team0.pid",
            "runner_name": "loadbalance", "version": "1.2.3", "zmq_enabled": false
        },
        "shared_by_all": {"card": "", "numa_node": -1, "root_port": "",
                          "switch": {"id": "", "name": "", "port": "", "source": "none"}},
        "team_device": {
            "ifinfo": {"dev_addr": "52:54:00:aa:bb:cc", "dev_addr_len": 6, "ifindex": 9, "ifname": "team0"},
            "link": {"duplex": "full", "speed": 20000, "up": true}
        }
    })"));
}

PortStatus port_with_every_watch() {
    auto status = port("eth1", 3);
    status.watches = {
        {.watch = EthtoolWatch{.delay_up = 100ms, .delay_down = 2s}, .up = true},
        {.watch = ArpPingWatch{.source_host = "0.0.0.0", .target_host = "192.168.23.1", .vlanid = 7},
         .up = true,
         .down_count = 2,
         .missed = 1},
        {.watch =
             NsnaPingWatch{.interval = 500ms, .init_wait = 50ms, .missed_max = 5, .target_host = "fe80::1"},
         .up = false,
         .down_count = 1,
         .missed = 6},
        {.watch = TipcWatch{.tipc_bearer = "vlan0"}, .up = true},
    };
    status.transmits = true;
    status.receives = true;
    status.buckets = 256;
    status.counters = {
        .tx_packets = 1, .tx_bytes = 65000, .rx_packets = 2, .rx_bytes = 5'000'000'000, .rx_dropped = 3};
    return status;
}

TEST(StateDocument, shows_port_like_teamd_with_its_datapath) {
    EXPECT_EQ(part(team_with(port_with_every_watch()), {"ports", "eth1"}), dump(R"({
        "datapath": {
            "buckets": 256,
            "counters": {"rx_bytes": 5000000000, "rx_dropped": 3, "rx_left": 0, "rx_packets": 2, "tx_bytes": 65000,
                         "tx_packets": 1},
            "receives": true, "transmits": true
        },
        "failure_domain": {"card": "", "numa_node": -1, "root_port": "",
                           "switch": {"id": "", "name": "", "port": "", "source": "none"}},
        "ifinfo": {"dev_addr": "52:54:00:aa:bb:cc", "dev_addr_len": 6, "ifindex": 3, "ifname": "eth1"},
        "link": {"duplex": "full", "speed": 10000, "up": true},
        "drain": {"by_hand": false, "forced": false, "phase": "none", "received_per_second": 0,
                  "waits_because": "", "wanted": false},
        "link_watches": {
            "list": {
                "link_watch_0": {"delay_down": 2000, "delay_up": 100, "down_count": 0, "name": "ethtool", "up": true},
                "link_watch_1": {"down_count": 2, "init_wait": 0, "interval": 1000, "missed": 1, "missed_max": 3,
                                 "name": "arp_ping", "send_always": false, "source_host": "0.0.0.0",
                                 "target_host": "192.168.23.1", "up": true, "validate_active": false,
                                 "validate_inactive": false},
                "link_watch_2": {"down_count": 1, "init_wait": 50, "interval": 500, "missed": 6, "missed_max": 5,
                                 "name": "nsna_ping", "target_host": "fe80::1", "up": false},
                "link_watch_3": {"down_count": 0, "name": "tipc", "tipc_bearer": "vlan0", "up": true}
            },
            "up": true
        },
        "loss": {"finding": "", "next_try_milliseconds": -1, "retransmitted_ppm": -1, "taken_out": false,
                 "watched": false}
    })"));
}

TEST(StateDocument, is_read_back_with_the_finding_of_a_port) {
    auto status = team_with(port("eth1", 3));
    status.ports[0].loss = {.what = "it loses packets", .watched = true, .is_out = true};
    status.ports[0].drain = {.phase = DrainPhase::telling, .by_hand = true, .forced = true, .received = 7};
    const auto state = read_state(state_document(status));
    ASSERT_TRUE(state) << state.error().text;
    EXPECT_EQ(state->ports[0].loss, status.ports[0].loss);
    EXPECT_EQ(state->ports[0].drain, status.ports[0].drain);
}

TEST(StateDocument, is_read_back_with_damping_and_weight) {
    auto status = team_with(port("eth1", 3));
    status.min_ports = 2;
    status.ports[0].weight = 40;
    status.ports[0].damping =
        DampingStatus{.penalty = 2207, .suppressed = true, .until_reuse = std::chrono::milliseconds(68'400)};
    EXPECT_EQ(part(status, {"ports", "eth1", "damping"}),
              dump(R"({"penalty": 2207, "reuse_milliseconds": 68400, "suppressed": true})"));
    const auto state = read_state(state_document(status));
    ASSERT_TRUE(state) << state.error().text;
    EXPECT_EQ(state->min_ports, 2);
    EXPECT_EQ(state->ports[0].weight, 40U);
    ASSERT_TRUE(state->ports[0].damping);
    EXPECT_TRUE(state->ports[0].damping->suppressed);
    EXPECT_EQ(state->ports[0].damping->penalty, 2207U);
}

/// slb does nothing in other modes than balance-xor.
TEST(StateDocument, is_read_with_the_runner_that_an_attached_bond_is_like) {
    auto status = team_without_ports();
    const auto runner_in = [&status](const char* mode) {
        status.attached = AttachedStatus{.mode = mode};
        const auto state = read_state(state_document(status));
        return state ? state->runner : state.error().text;
    };
    EXPECT_EQ(runner_in("balance-xor"), "loadbalance");
    EXPECT_EQ(runner_in("802.3ad"), "lacp");
    status.runner = SlbRunner{};
    EXPECT_EQ(runner_in("balance-xor"), "slb");
    EXPECT_EQ(runner_in("802.3ad"), "lacp");
    EXPECT_EQ(runner_in("active-backup"), "activebackup");
}

TEST(StateDocument, counts_buckets_per_port) {
    auto status = team_with(port("eth1", 3));
    status.ports[0].buckets = 156;
    status.ports.push_back(port("eth1.100", 4));
    status.ports[1].buckets = 100;
    EXPECT_EQ(part(status, {"datapath", "buckets"}), dump(R"({"eth1": 156, "eth1.100": 100})"));
    EXPECT_EQ(part(status, {"ports", "eth1.100", "ifinfo", "ifname"}), R"("eth1.100")");
}

// The kernel's team driver has 0 and 0 without a link, and the values of ethtool with one.
TEST(StateDocument, shows_links_like_teamd) {
    const std::pair<LinkStatus, std::string_view> links[]{
        {{.up = true, .speed = 1000, .duplex = Duplex::half},
         R"({"duplex": "half", "speed": 1000, "up": true})"},
        {{.up = true, .speed = std::nullopt, .duplex = Duplex::unknown},
         R"({"duplex": "full", "speed": -1, "up": true})"},
        {LinkStatus{}, R"({"duplex": "half", "speed": 0, "up": false})"},
        {{.up = false, .speed = 1000, .duplex = Duplex::full},
         R"({"duplex": "half", "speed": 0, "up": false})"},
    };
    for (const auto& [link, expected] : links) {
        auto status = port("eth1", 3);
        status.link = link;
        EXPECT_EQ(part(team_with(status), {"ports", "eth1", "link"}), dump(expected));
    }
}

TEST(StateDocument, names_runner_and_kernel_mode) {
    const std::tuple<RunnerConfig, std::string_view, std::string_view> runners[]{
        {BroadcastRunner{}, R"("broadcast")", R"("broadcast")"},
        {RoundRobinRunner{}, R"("roundrobin")", R"("roundrobin")"},
        {RandomRunner{}, R"("random")", R"("random")"},
        {ActiveBackupRunner{}, R"("activebackup")", R"("activebackup")"},
        {LoadBalanceRunner{}, R"("loadbalance")", R"("loadbalance")"},
        {LacpRunner{}, R"("lacp")", R"("loadbalance")"},
        {SlbRunner{}, R"("slb")", R"("loadbalance")"},
    };
    for (const auto& [runner, name, mode] : runners) {
        auto status = team_without_ports();
        status.runner = runner;
        EXPECT_EQ(part(status, {"setup", "runner_name"}), name);
        EXPECT_EQ(part(status, {"setup", "kernel_team_mode_name"}), mode);
    }
}

TEST(StateDocument, has_runner_section_like_teamd) {
    auto status = team_without_ports();
    EXPECT_EQ(part(status, {"runner"}), "nothing");
    status.runner = ActiveBackupRunner{};
    EXPECT_EQ(part(status, {"runner"}), dump(R"({"active_port": ""})"));
    status.active_port = "eth1";
    EXPECT_EQ(part(status, {"runner"}), dump(R"({"active_port": "eth1"})"));
    LacpRunner lacp;
    lacp.fast_rate = true;
    lacp.agg_select_policy = AggSelectPolicy::port_config;
    status.runner = lacp;
    EXPECT_EQ(
        part(status, {"runner"}),
        dump(R"({"active": true, "fast_rate": true, "select_policy": "port_config", "sys_prio": 65535})"));
}

TEST(StateDocument, has_state_items_of_teamd) {
    const auto document = state_document(team_with(port_with_every_watch()));
    const std::pair<std::string_view, std::string_view> items[]{
        {"setup.pid", "1234"},
        {"setup.debug_level", "2"},
        {"setup.daemonized", "false"},
        {"setup.pid_file", "/var/run/teamd/team0.pid"},
        {"team_device.ifinfo.dev_addr", "52:54:00:aa:bb:cc"},
        {"team_device.link.speed", "20000"},
        {"ports.eth1.link_watches.up", "true"},
        {"ports.eth1.link_watches.list.link_watch_1.down_count", "2"},
        {R"(ports."eth1".ifinfo.ifindex)", "3"},
        {"ports.eth1.datapath.counters.rx_bytes", "5000000000"},
        {"datapath.name", "bpf"},
    };
    for (const auto& [path, value] : items)
        EXPECT_EQ(item_at(document, path), value) << path;
}

// ---- state_item() ------------------------------------------------------------------------------

json::Value small_document() {
    auto parsed = json::parse(R"({
        "ports": {
            "eth10": {"link": {"up": false, "speed": 10000}},
            "eth1": {"link": {"up": true, "speed": -1}},
            "eth1.100": {"link": {"up": false}, "ifinfo": {"dev_addr": "52:54:00:aa:bb:cc"}},
            "a\"b": {"link": {"up": true}}
        },
        "runner": {"active_port": ""},
        "setup": {"pid": 1234, "null": null, "list": [1], "rx_bytes": 9223372036854775807}
    })");
    EXPECT_TRUE(parsed.has_value());
    return parsed ? *parsed : json::Value();
}

TEST(StateItemPath, splits_at_dots) {
    EXPECT_THAT(split_item_path("setup"), Optional(ElementsAre("setup")));
    EXPECT_THAT(split_item_path("ports.eth1.link.up"), Optional(ElementsAre("ports", "eth1", "link", "up")));
}

TEST(StateItemPath, accepts_quoted_names_with_dots) {
    EXPECT_THAT(split_item_path(R"(ports."eth1.100".link.up)"),
                Optional(ElementsAre("ports", "eth1.100", "link", "up")));
    EXPECT_THAT(split_item_path(R"("a.b")"), Optional(ElementsAre("a.b")));
    EXPECT_THAT(split_item_path(R"(ports."eth1"."x.y")"), Optional(ElementsAre("ports", "eth1", "x.y")));
    EXPECT_THAT(split_item_path(R"(ports."a"b".link)"), Optional(ElementsAre("ports", "a\"b", "link")));
    EXPECT_THAT(split_item_path(R"(ports.a"b.link)"), Optional(ElementsAre("ports", "a\"b", "link")));
}

TEST(StateItemPath, rejects_empty_name_and_open_quote) {
    for (const auto* path : {"", ".", "setup.", ".setup", "setup..pid", "\"", "\"\"", "ports.\"eth1",
                             "ports.\"\".up", "ports.\"eth1\"x.up", "ports.\"eth1\"."})
        EXPECT_EQ(split_item_path(path), std::nullopt) << path;
}

TEST(StateItem, returns_leaf_as_text) {
    const auto state = small_document();
    EXPECT_EQ(item_at(state, "setup.pid"), "1234");
    EXPECT_EQ(item_at(state, "setup.rx_bytes"), "9223372036854775807");
    EXPECT_EQ(item_at(state, "runner.active_port"), "");
    EXPECT_EQ(item_at(state, "ports.eth1.link.up"), "true");
    EXPECT_EQ(item_at(state, "ports.eth1.link.speed"), "-1");
}

// teamd compares only the start of the name, so it may return eth10 for eth1 and eth1 for eth10.
TEST(StateItem, matches_port_name_exactly) {
    const auto state = small_document();
    EXPECT_EQ(item_at(state, "ports.eth1.link.up"), "true");
    EXPECT_EQ(item_at(state, "ports.eth10.link.up"), "false");
    EXPECT_EQ(item_at(state, R"(ports."eth1".link.up)"), "true");
    EXPECT_EQ(item_at(state, R"(ports."eth1.100".link.up)"), "false");
    EXPECT_EQ(item_at(state, R"(ports."eth1.100".ifinfo.dev_addr)"), "52:54:00:aa:bb:cc");
    for (const auto* path :
         {"ports.eth.link.up", "ports.e.link.up", "ports.eth100.link.up", "ports.ETH1.link.up"})
        EXPECT_EQ(item_at(state, path), std::nullopt) << path;
}

TEST(StateItem, has_no_value_outside_leaves) {
    const auto state = small_document();
    for (const auto* path : {"setup", "ports.eth1", "setup.pid.x", "setup.PID", "setup.null", "setup.list",
                             "setup.list.0", "nothing", "", "setup.pid."})
        EXPECT_EQ(item_at(state, path), std::nullopt) << path;
}

} // namespace
} // namespace teamo::control
