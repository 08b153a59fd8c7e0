// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Features of the kernel's team driver: options that teamnl shows, ports and devices of other programs. And a
// port that lacks an offload, with both datapaths.
//
// lab: Driver.* *LackingPort.* in -k newest -p 2, 20 s
#include "lab/far_switch.h"
#include "lab/guest.h"
#include "support/daemon/team_under_test.h"
#include "support/net/links.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// An option of the driver, read by libteam's teamnl.
std::string option(const std::string& name, const std::string& port = "") {
    auto text = in_guest(fmt::format("teamnl {} team0 getoption {}", port.empty() ? "" : "-p " + port, name));
    text.erase(text.find_last_not_of(" \n") + 1);
    return text;
}

/// The number of buckets for each ifindex, as teamnl lists them.
std::string mapping() {
    return in_guest(
        "teamnl team0 options | awk '$1 == \"lb_tx_hash_to_port_mapping\" { print $NF }' | sort | uniq -c");
}

testing::AssertionResult carries(const TeamUnderTest& team, const std::string& port) {
    return becomes(
        std::string("true"), [&] { return team.item(fmt::format("ports.{}.link.up", port)); }, 20s);
}

TEST(Driver, sets_every_configured_option) {
    TeamUnderTest team(R"({"device": "team0", "runner": {"name": "loadbalance"},
                           "notify_peers": {"count": 5, "interval": 20}, "mcast_rejoin": {"count": 4, "interval": 30},
                           "ports": {"eth0": {"queue_id": 3, "prio": -10}, "eth1": {"prio": 7}}})",
                       {"--datapath", "team"});
    ASSERT_TRUE(carries(team, "eth0"));
    ASSERT_TRUE(carries(team, "eth1"));
    EXPECT_EQ("loadbalance", option("mode"));
    EXPECT_EQ("hash_to_port_mapping", option("lb_tx_method"));
    EXPECT_GT(option("bpf_hash_func").size(), 100U);
    EXPECT_EQ("5", option("notify_peers_count"));
    EXPECT_EQ("20", option("notify_peers_interval"));
    EXPECT_EQ("4", option("mcast_rejoin_count"));
    EXPECT_EQ("30", option("mcast_rejoin_interval"));
    EXPECT_EQ("3", option("queue_id", "eth0"));
    EXPECT_EQ("-10", option("priority", "eth0"));
    EXPECT_EQ("7", option("priority", "eth1"));
    EXPECT_EQ("false", option("user_linkup_enabled", "eth0")) << "the driver uses its own link state";
    EXPECT_TRUE(becomes(true, [] {
        const auto places = mapping();
        return places.find("128 " + std::to_string(look(NetNs::current(), "eth0").index)) !=
                   std::string::npos &&
               places.find("128 " + std::to_string(look(NetNs::current(), "eth1").index)) !=
                   std::string::npos;
    })) << mapping();
    // The daemon repairs a change by another program.
    in_guest("teamnl -p eth0 team0 setoption enabled false");
    EXPECT_TRUE(becomes(std::string("true"), [] { return option("enabled", "eth0"); }));
    EXPECT_EQ(0, team.stop());
}

TEST(Driver, sets_the_link_only_while_the_watch_differs) {
    TeamUnderTest team(R"({"device": "team0", "runner": {"name": "roundrobin"},
                           "ports": {"eth0": {}, "eth1": {"link_watch": {"name": "ethtool", "delay_up": 4000}}}})",
                       {"--datapath", "team"});
    EXPECT_TRUE(becomes(std::string("true"), [] { return option("user_linkup_enabled", "eth1"); }, 20s));
    EXPECT_EQ("false", option("user_linkup", "eth1"));
    EXPECT_TRUE(becomes(std::string("false"), [] { return option("user_linkup_enabled", "eth1"); }, 20s));
    EXPECT_TRUE(look(NetNs::current(), "team0").kind == "team");
    EXPECT_EQ(0, team.stop());
}

TEST(Driver, follows_ports_attached_by_others) {
    const auto before = as_it_is("eth1");
    const auto features = [] { return in_guest("ethtool -k eth1"); };
    const auto offloads = features();
    TeamUnderTest team(R"({"device": "team0", "runner": {"name": "loadbalance"}, "ports": {"eth0": {}},
                           "offload": {"tso": "off"}})",
                       {"--datapath", "team"});
    ASSERT_TRUE(carries(team, "eth0"));
    in_guest("ip link set eth1 down; ip link set eth1 master team0");
    ASSERT_TRUE(carries(team, "eth1"));
    EXPECT_THAT(features(), HasSubstr("tcp-segmentation-offload: off"));
    EXPECT_THAT(look(NetNs::current(), "eth1").altnames, testing::Contains("teamo-port-team0-2"));
    EXPECT_TRUE(becomes(true, [] {
        return mapping().find("128 " + std::to_string(look(NetNs::current(), "eth1").index)) !=
               std::string::npos;
    })) << mapping();
    in_guest("ip link set eth1 nomaster");
    EXPECT_TRUE(becomes(std::string(""), [&] { return team.item("ports.eth1.link.up"); }));
    EXPECT_EQ("true", team.item("ports.eth0.link_watches.up"));
    EXPECT_EQ("", difference(before, snapshot(NetNs::current(), "eth1")));
    EXPECT_EQ("", difference(offloads, features()));
    EXPECT_EQ(0, team.stop());
}

TEST(Driver, takes_over_a_foreign_device_with_option_o) {
    const auto before = look(NetNs::current(), "eth0");
    in_guest("ip link add name team0 type team; teamnl team0 setoption mode activebackup; "
             "ip link set team0 mtu 1400; ip link set eth0 down; ip link set eth0 master team0");
    constexpr const char* config =
        R"({"device": "team0", "hwaddr": "02:00:00:00:00:77", "runner": {"name": "activebackup"}})";
    const auto refused = daemon_on(config, {"--datapath", "team"});
    EXPECT_EQ(1, refused.status);
    EXPECT_THAT(refused.err,
                HasSubstr("device team0 exists and is not a team of teamd-offload; start with -o"));
    EXPECT_EQ("team0", look(NetNs::current(), "eth0").master) << "nothing has changed";
    TeamUnderTest team(config, {"--datapath", "team", "-o"});
    EXPECT_TRUE(becomes(std::string("eth0"), [&] { return team.item("runner.active_port"); }, 20s));
    EXPECT_THAT(look(NetNs::current(), "team0").altnames, testing::Contains("teamo-team-team0"));
    EXPECT_EQ("02:00:00:00:00:77", look(NetNs::current(), "team0").address);
    EXPECT_EQ(0, team.stop());
    EXPECT_FALSE(exists(NetNs::current(), "team0"));
    const auto after = look(NetNs::current(), "eth0");
    EXPECT_EQ(before.address, after.address) << "the team had another one";
    EXPECT_EQ(before.mtu, after.mtu);
}

TEST(Driver, leaves_out_a_port_removed_without_a_daemon) {
    const auto before = as_it_is("eth1");
    TeamUnderTest team(
        R"({"device": "team0", "runner": {"name": "loadbalance"}, "ports": {"eth0": {}, "eth1": {}}})",
        {"--datapath", "team"});
    ASSERT_TRUE(carries(team, "eth0"));
    team.kill();
    in_guest("ip link set eth1 nomaster");
    team.start();
    EXPECT_EQ("", team.item("ports.eth1.link.up"));
    EXPECT_EQ("true", team.item("ports.eth0.link_watches.up"));
    EXPECT_EQ("", difference(before, snapshot(NetNs::current(), "eth1")));
    EXPECT_EQ(0, team.stop());
}

TEST(Driver, receives_on_ports_left_by_the_bpf_datapath) {
    const FarSwitch far(2);
    constexpr const char* config =
        R"({"device": "team0", "runner": {"name": "loadbalance"}, "ports": {"eth0": {}, "eth1": {}}})";
    {
        TeamUnderTest by_bpf(config, {"--datapath", "bpf"});
        ASSERT_TRUE(carries(by_bpf, "eth0"));
        by_bpf.kill();
        in_guest("ip link del team0");
    }
    TeamUnderTest team(config, {"--datapath", "team"});
    in_guest("ip addr add 10.9.0.1/24 dev team0; ip link set team0 up");
    ASSERT_TRUE(carries(team, "eth0"));
    ASSERT_TRUE(carries(team, "eth1"));
    EXPECT_TRUE(reaches(NetNs::current(), "10.9.0.2", 15s));
    for (const auto* port : {"eth0", "eth1"})
        EXPECT_EQ("", in_guest(fmt::format("tc filter show dev {} ingress", port))) << port;
    EXPECT_EQ(0, team.stop());
}

class LackingPort : public testing::TestWithParam<const char*> {};

TEST_P(LackingPort, limits_packet_size_but_not_tso) {
    TeamUnderTest team(
        R"({"device": "team0", "runner": {"name": "loadbalance"}, "ports": {"eth0": {}, "eth1": {}}})",
        {"--datapath", GetParam()});
    ASSERT_TRUE(carries(team, "eth0"));
    in_guest("ethtool -K eth1 tso off");
    EXPECT_THAT(in_guest("ethtool -k team0"), HasSubstr("tcp-segmentation-offload: on"));
    in_guest("ethtool -K eth1 tso on");
    const auto limit = [] { return in_guest("ip -d link show team0 | grep -o 'gso_max_size [0-9]*'"); };
    const auto usual = limit();
    // The kernel sends no event for a new limit; the daemon reads it at the next event of the port.
    in_guest("ip link set eth1 gso_max_size 32768; ip link set eth1 alias lower");
    EXPECT_TRUE(becomes(std::string("gso_max_size 32768\n"), limit));
    in_guest("ip link set eth1 gso_max_size 65536; ip link set eth1 alias ''");
    EXPECT_TRUE(becomes(usual, limit));
    EXPECT_EQ(0, team.stop());
}

INSTANTIATE_TEST_SUITE_P(Datapath, LackingPort, testing::Values("team", "bpf"),
                         [](const auto& which) { return std::string(which.param); });

} // namespace
} // namespace teamo::test
