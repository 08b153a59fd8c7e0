// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The configured offloads, checked with ethtool(8) and by the size of packets.
//
// lab: Offload.* by team, 18 s, long
// lab: LargePackets.on_a_vlan_* by bpf, 10 s
#include "netns/configs.h"
#include "support/figure.h"
#include "support/traffic/flows.h"
#include "support/traffic/traffic.h"

#include "kernel/ethtool/ethtool.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>

namespace teamo::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

constexpr auto tcp4 = "tx-tcp-segmentation", tcp6 = "tx-tcp6-segmentation";
constexpr auto not_on_a_veth = "tx-esp-segmentation";

FeatureNames features(const NetNs& in, const std::string& device) {
    auto ethtool = in.inside([] { return Ethtool::open(); });
    const auto read = ethtool->read_features(IfIndex{look(in, device).index});
    if (!read) throw SetupError(read.error().text);
    return read->active;
}
FeatureNames features(const Cabling& wires, const std::string& device) {
    return features(wires.host(), device);
}

bool has(const Cabling& wires, const std::string& device, const std::string& feature) {
    return features(wires, device).contains(feature);
}

void ethtool(const Cabling& wires, const std::string& words) { must(wires.host(), "ethtool -K " + words); }

std::string with_contract(unsigned ports, std::string_view contract) {
    return team_config(by_flow, ports_object(ports), fmt::format(R"("offload": {}, )", contract));
}

// ---- what is kept, required and off ----------------------------------------------------------

TEST(Offload, keeps_features_by_default) {
    const Cabling wires(2, FarSide::open);
    const auto before = features(wires, "eth1");
    TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    EXPECT_EQ(before, features(wires, "eth1"));
    EXPECT_THAT(features(wires, "team0"), IsSupersetOf({tcp4, tcp6, "tx-scatter-gather"}));
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ(before, features(wires, "eth1"));
}

TEST(Offload, requires_tso_and_restores_it) {
    const Cabling wires(2, FarSide::open);
    ethtool(wires, fmt::format("eth1 {} off {} off", tcp4, tcp6));
    const auto before = features(wires, "eth1");
    TeamUnderTest team(loadbalance(2));
    EXPECT_TRUE(
        eventually("TSO is on", [&] { return has(wires, "eth1", tcp4) && has(wires, "eth1", tcp6); }));
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ(before, features(wires, "eth1"));
}

TEST(Offload, off_is_restored_by_a_later_daemon) {
    const Cabling wires(2, FarSide::open);
    const auto before = features(wires, "eth1");
    TeamUnderTest team(with_contract(2, R"({"tso": "off", "rx-checksum": "off"})"));
    bring_up(wires, team);
    EXPECT_FALSE(has(wires, "eth1", tcp4));
    EXPECT_FALSE(has(wires, "eth1", tcp6));
    EXPECT_FALSE(has(wires, "eth1", "rx-checksum"));
    EXPECT_TRUE(has(wires, "team0", tcp4)) << "the port segments, not the team";
    team.kill();
    team.start();
    EXPECT_FALSE(has(wires, "eth1", tcp4));
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ(before, features(wires, "eth1"));
}

TEST(Offload, port_setting_overrides_the_team) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(team_config(by_flow, R"({"eth1": {"offload": {"tso": "off"}}, "eth2": {}})"));
    bring_up(wires, team);
    EXPECT_FALSE(has(wires, "eth1", tcp4));
    EXPECT_TRUE(has(wires, "eth2", tcp4));
    ASSERT_EQ(0, team.teamdctl({"port", "config", "update", "eth1", "{}"}).status);
    EXPECT_TRUE(has(wires, "eth1", tcp4));
}

TEST(Offload, ignores_changes_while_no_daemon_ran) {
    const Cabling wires(2, FarSide::open);
    const auto before = features(wires, "eth1");
    TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    team.kill();
    ethtool(wires, "eth1 gro on tx-udp-segmentation off");
    ethtool(wires, "team0 tx-udp-segmentation off");
    team.start();
    EXPECT_TRUE(has(wires, "eth1", "tx-udp-segmentation"));
    EXPECT_TRUE(eventually("the team's is back", [&] { return has(wires, "team0", "tx-udp-segmentation"); }));
    EXPECT_EQ(0, team.stop());
    EXPECT_THAT(features(wires, "eth1"), IsSupersetOf(before));
}

// ---- changes by other programs ---------------------------------------------------------------

/// offload_measure.cpp measures the time.
TEST(OffloadRepair, logs_one_line_each_time) {
    constexpr unsigned rounds = 5;
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    for (unsigned round = 1; round <= rounds; ++round) {
        ethtool(wires, "eth1 tso off");
        ASSERT_TRUE(team.await_item("offload.ports.eth1.repaired", std::to_string(round)));
        EXPECT_TRUE(has(wires, "eth1", tcp4));
    }
    EXPECT_EQ(rounds,
              lines_with(team.log(), "was switched off by another program or the driver; switched on again"))
        << "one line each";
    EXPECT_EQ(rounds, lines_with(team.log(), "port eth1: tx-tcp"));
}

TEST(OffloadRepair, repairs_all_features_at_once) {
    const Cabling wires(2, FarSide::open);
    ethtool(wires, "eth1 gro on");
    const auto before = features(wires, "eth1");
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    // Without scatter-gather the kernel disables TSO and GSO too.
    ethtool(wires, "eth1 sg off tx off rx off gro off txvlan off");
    EXPECT_TRUE(becomes(before, [&] { return features(wires, "eth1"); }));
}

TEST(OffloadRepair, repairs_the_team_device) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    ethtool(wires, "team0 tso off");
    EXPECT_TRUE(eventually("TSO is on again", [&] { return has(wires, "team0", tcp4); }));
}

TEST(OffloadRepair, switches_off_what_must_be_off) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(with_contract(2, R"({"tso": "off"})"));
    bring_up(wires, team);
    ethtool(wires, fmt::format("eth1 {} on", tcp4));
    EXPECT_TRUE(eventually("TSO is off again", [&] { return !has(wires, "eth1", tcp4); }));
    EXPECT_TRUE(eventually("the log reports it", [&] {
        return team.log().find("tx-tcp-segmentation was switched on by another program or the driver; "
                               "switched off again") != std::string::npos;
    }));
}

TEST(OffloadRepair, slows_down_when_contested) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    auto other = wires.host().inside([] { return Ethtool::open(); });
    const IfIndex eth1{look(wires.host(), "eth1").index};
    unsigned undone = 0;
    const auto start = SteadyClock::now();
    while (since(start) < 800ms) {
        if (has(wires, "eth1", tcp4) && other->set_features(eth1, {{tcp4, false}})) ++undone;
        std::this_thread::sleep_for(1ms);
    }
    EXPECT_LE(undone, 10U) << "eight at once, then at most one per second";
    EXPECT_TRUE(eventually("it does not give up yet", [&] { return has(wires, "eth1", tcp4); }));
}

TEST(OffloadRepair, only_logs_if_configured) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(with_contract(2, R"({"repair": false})"));
    bring_up(wires, team);
    ethtool(wires, "eth1 tso off");
    EXPECT_TRUE(eventually("the log reports it", [&] {
        return team.log().find("not changed, because \"repair\" is false") != std::string::npos;
    }));
    EXPECT_TRUE(stays("left alone", [&] { return !has(wires, "eth1", tcp4); }, 200ms));
    EXPECT_EQ(1U, lines_with(team.log(), "not changed, because"));
    // What the administrator requires later is no change by another program.
    std::ofstream(team.item("setup.config_file"))
        << with_contract(2, R"({"repair": false, "rx-checksum": "off"})");
    const auto reloaded = team.teamoctl({"config", "reload"});
    EXPECT_EQ(0, reloaded.status) << reloaded.err;
    EXPECT_TRUE(becomes(false, [&] { return has(wires, "eth1", "rx-checksum"); }));
    EXPECT_FALSE(has(wires, "eth1", tcp4));
}

TEST(OffloadRepair, repairs_the_mtu_of_a_port) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    if (by_driver(wires)) GTEST_SKIP() << "the team driver refuses another MTU";
    wires.host().ip("link set eth1 mtu 1400");
    EXPECT_TRUE(becomes(1500U, [&] { return look(wires.host(), "eth1").mtu; }));
    EXPECT_TRUE(eventually("the log reports it", [&] {
        return team.log().find("port eth1: MTU 1400 is not the team's; set to 1500 again") !=
               std::string::npos;
    }));
}

// ---- a port that lacks an offload ------------------------------------------------------------

std::string lacking(std::string_view policy) {
    return team_config(by_flow, fmt::format(R"({{"eth1": {{"offload": {{"{}": "require", "lacking": "{}"}}}},
                                                 "eth2": {{}}}})",
                                            not_on_a_veth, policy));
}

TEST(LackingPort, accept_uses_it_and_warns_once) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(lacking("accept"));
    bring_up(wires, team);
    EXPECT_TRUE(team.await_item("ports.eth1.datapath.transmits", "true"));
    ethtool(wires, "eth1 gro off");
    ethtool(wires, "eth1 tso off");
    EXPECT_TRUE(eventually("TSO is on again", [&] { return has(wires, "eth1", tcp4); }));
    EXPECT_EQ(1U, lines_with(team.log(), "port eth1: lacks tx-esp-segmentation"));
}

TEST(LackingPort, demote_uses_it_last) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(lacking("demote"));
    bring_up(wires, team);
    EXPECT_TRUE(team.await_item("ports.eth1.datapath.transmits", "false"));
    EXPECT_EQ("true", team.item("ports.eth1.datapath.receives"));
    wires.pull(2);
    EXPECT_TRUE(team.await_item("ports.eth1.datapath.transmits", "true"));
    wires.plug(2);
    EXPECT_TRUE(team.await_item("ports.eth1.datapath.transmits", "false"));
}

TEST(LackingPort, refuse_leaves_it_out) {
    const Cabling wires(2, FarSide::open);
    const auto before = snapshot(wires.host(), "eth1");
    const TeamUnderTest team(lacking("refuse"));
    EXPECT_TRUE(team.await_link("eth2"));
    EXPECT_EQ("", team.item("ports.eth1.link_watches.up"));
    EXPECT_THAT(team.log(), HasSubstr("port eth1: lacks tx-esp-segmentation, and \"lacking\" is \"refuse\""));
    EXPECT_EQ("", difference(before, snapshot(wires.host(), "eth1")));
    const auto added = team.teamdctl({"port", "add", "eth1"});
    EXPECT_NE(0, added.status);
    EXPECT_EQ("", difference(before, snapshot(wires.host(), "eth1")));
}

// ---- size of packets -------------------------------------------------------------------------

/// Average bytes per packet that these ports send during one second.
double bytes_per_skb(const Cabling& wires, std::initializer_list<const char*> ports) {
    const auto all = [&] {
        Counters sum;
        for (const auto* port : ports) {
            const auto one = counters(wires.host(), port);
            sum.tx_bytes += one.tx_bytes, sum.tx_packets += one.tx_packets;
        }
        return sum;
    };
    const auto before = all();
    std::this_thread::sleep_for(1s);
    const auto sent = all() - before;
    return static_cast<double>(sent.tx_bytes) / static_cast<double>(sent.tx_packets);
}

TEST(LackingPort, does_not_shrink_packets_of_other_ports) {
    const Cabling wires(2, FarSide::lag_switch);
    const TeamUnderTest team(
        team_config(R"({"name": "loadbalance", "tx_hash": ["ipv4", "l4"]})",
                    R"({"eth1": {}, "eth2": {}, "eth3": {"offload": {"tso": "off", "gso": "off"}}})"));
    bring_up(wires, team);
    ASSERT_TRUE(reaches(wires.host(), client_v4));
    // TCP sizes packets by what it may send in a millisecond, so they get smaller if the CPU is busy, for
    // example with segmentation for eth3. Here more than one packet is always waiting.
    must(wires.host(), "sysctl -qw net.ipv4.tcp_min_tso_segs=44");
    wires.add_cable(3);
    for (const auto* port : {"eth1", "eth2", "eth3"})
        must(wires.host(),
             fmt::format("tc qdisc add dev {} root tbf rate 100mbit burst 128k limit 16m", port));
    // So many that each port has one, whatever their hashes are.
    const BulkFlows flows({.from = &wires.host(),
                           .to = &wires.client(),
                           .address = client_v4,
                           .rates = std::vector<double>(24, 0)});
    std::vector<double> alone, with_it, poor;
    for (int round = 0; round < 3; ++round) {
        ASSERT_TRUE(team.await_item("ports.eth3.datapath.transmits", "true"));
        EXPECT_FALSE(has(wires, "eth3", tcp4));
        EXPECT_TRUE(has(wires, "team0", tcp4));
        with_it.push_back(bytes_per_skb(wires, {"eth1", "eth2"}));
        poor.push_back(bytes_per_skb(wires, {"eth3"}));
        ASSERT_EQ(0, team.teamdctl({"port", "remove", "eth3"}).status);
        alone.push_back(bytes_per_skb(wires, {"eth1", "eth2"}));
        ASSERT_EQ(0, team.teamdctl({"port", "add", "eth3"}).status);
    }
    fmt::print("bytes per skb: {:.0f} with eth3, which has {:.0f}, and {:.0f} without (medians of 3)\n",
               median(with_it), median(poor), median(alone));
    RecordProperty("alone", static_cast<int>(median(alone)));
    RecordProperty("with_it", static_cast<int>(median(with_it)));
    // The size also depends on the load of this machine. A segmented packet has 1514 bytes.
    EXPECT_GE(median(with_it), 4 * median(poor));
    EXPECT_LT(median(poor), 2000) << "the port must lack TSO";
}

/// Bulk to that address must leave in large packets at every MTU.
void expect_whole_packets(const Cabling& wires, const char* address) {
    for (const auto* mtu : {"1500", "9000", "1280"}) {
        wires.host().ip(fmt::format("link set team0 mtu {}", mtu));
        ASSERT_TRUE(reaches(wires.host(), address));
        const BulkFlows flows({.from = &wires.host(),
                               .to = &wires.client(),
                               .address = address,
                               .rates = std::vector<double>(4, 25e6)});
        const auto whole = bytes_per_skb(wires, {"eth1", "eth2"});
        fmt::print("{:.0f} bytes per skb to {} at MTU {}\n", whole, address, mtu);
        EXPECT_GE(whole, 10'000) << "at MTU " << mtu;
    }
}

TEST(LargePackets, at_every_mtu) {
    const Cabling wires(2, FarSide::lag_switch);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    expect_whole_packets(wires, client_v4);
}

TEST(LargePackets, on_a_vlan_at_every_mtu) {
    constexpr const char* vlan_v4 = "10.7.0.2";
    const Cabling wires(2, FarSide::lag_switch);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    if (const auto added = sh(wires.host(), "ip link add link team0 name team0.7 type vlan id 7");
        added.status != 0)
        GTEST_SKIP() << "this kernel has no VLAN devices (the lab's kernels have them): " << added.err;
    wires.host().ip("link set team0.7 up\naddr add 10.7.0.1/24 dev team0.7");
    wires.client().ip(fmt::format("link add link client0 name client0.7 type vlan id 7\n"
                                  "link set client0.7 up\naddr add {}/24 dev client0.7",
                                  vlan_v4));
    expect_whole_packets(wires, vlan_v4);
}

unsigned limit_of(const Cabling& wires, const std::string& device, std::string_view limit) {
    const auto shown =
        must(wires.host(), fmt::format("ip -d link show {} | grep -o '{} [0-9]*'", device, limit));
    return static_cast<unsigned>(std::stoul(shown.substr(shown.find(' '))));
}
unsigned gso_max(const Cabling& wires, const std::string& device) {
    return limit_of(wires, device, "gso_max_size");
}

/// A team of three ports, of which two segment.
std::string third_does_not_segment() {
    return team_config(by_flow, R"({"eth1": {}, "eth2": {}, "eth3": {"offload": {"tso": "off"}}})");
}

TEST(GsoLimits, follows_ports_that_segment) {
    const Cabling wires(3, FarSide::open);
    const TeamUnderTest team(third_does_not_segment());
    bring_up(wires, team);
    wires.host().ip("link set eth3 gso_max_size 20000"); // eth3 does not segment, so its limit does not count
    wires.host().ip("link set eth2 gso_max_size 30000");
    EXPECT_TRUE(becomes(30'000U, [&] { return gso_max(wires, "team0"); }));
    wires.host().ip("link set eth2 gso_max_size 65536");
    EXPECT_TRUE(becomes(65'536U, [&] { return gso_max(wires, "team0"); }));
}

TEST(GsoLimits, follows_ports_beyond_64_kib) {
    const Cabling wires(3, FarSide::open);
    const TeamUnderTest team(third_does_not_segment());
    bring_up(wires, team);
    if (const auto set = sh(wires.host(), "ip link set eth1 gso_max_size 150000"); !set.err.empty())
        GTEST_SKIP() << "no BIG TCP (Linux 5.19) in this kernel or ip(8): " << set.err;
    wires.host().ip("link set eth2 gso_max_size 130000");
    // Before Linux 6.19 the driver's device only accepts the default limit (net/core/dev.c:
    // netif_set_tso_max_size, netdev_compute_master_upper_features).
    const unsigned raised =
        std::min(by_driver(wires) ? limit_of(wires, "team0", "tso_max_size") : 130'000U, 130'000U);
    EXPECT_TRUE(becomes(raised, [&] { return gso_max(wires, "team0"); }));
    wires.host().ip("link set eth1 gso_max_size 65536\nlink set eth2 gso_max_size 65536");
    EXPECT_TRUE(becomes(65'536U, [&] { return gso_max(wires, "team0"); }));
}

} // namespace
} // namespace teamo::test
