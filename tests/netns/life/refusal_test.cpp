// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A start that fails prints one line and leaves nothing behind.
//
// lab: Refusal.missing_driver by team, 4 s
// lab: Check.* DryRun.* */Refusal.* by none: no datapath is made
#include "netns/configs.h"
#include "netns/life/operators.h"
#include "netns/team_driver.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>
#include <rapidjson/document.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace teamo::test {
namespace {

using testing::HasSubstr;

/// Devices, files, pins and the ports' settings.
std::string everything(const Cabling& wires) {
    return must(wires.host(),
                "ip -br link | sort; find /run/teamd /run/teamd-offload /sys/fs/bpf ! -type d") +
           snapshot(wires.host(), "eth1") + snapshot(wires.host(), "eth2");
}

/// Expects exit status 1, one line with these words, and no change.
void expect_refused(const Cabling& wires, const std::string& before, const Output& refused,
                    std::string_view words) {
    EXPECT_EQ(1, refused.status);
    EXPECT_EQ(1, std::ranges::count(refused.err, '\n')) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr(words));
    EXPECT_FALSE(exists(wires.host(), "team0"));
    EXPECT_FALSE(ControlSocket::to("team0"));
    EXPECT_EQ("", difference(before, everything(wires)));
}

TEST(Refusal, invalid_configuration) {
    const Cabling wires(2, FarSide::open);
    const auto before = everything(wires);
    struct Case {
        const char *text, *words;
    };
    for (const auto& [text, words] : {
             Case{R"({"device": "team0",,})", ".conf:1:20: error: "},
             Case{"", ".conf:1:1: error: "},
             Case{"[]", ".conf:1:1: error: "},
             Case{"{\n  \"device\": \"team0\",\n  \"runner\": {\"name\": \"fastest\"}\n}",
                  ".conf:3:22: error: /runner/name: "},
             Case{R"({"device": "team0", "runner": {"name": "activebackup", "hwaddr_policy": "x"}})",
                  "/runner/hwaddr_policy: "},
             Case{R"({"device": "team0", "runner": {"name": "loadbalance"}, "hwaddr": "zz"})", "/hwaddr: "},
             Case{R"({"device": "team0", "device": "team1"})", ".conf:1:21: error: "},
         })
        expect_refused(wires, before, daemon_on(text), words);
}

TEST(Refusal, missing_file) {
    const Cabling wires(2, FarSide::open);
    const auto before = everything(wires);
    expect_refused(wires, before, daemon({"-f", "/run/nowhere.conf"}), "/run/nowhere.conf");
}

/// A team starts with the ports that can join; the others are named, and join when they can.
TEST(Start, goes_on_without_ports_that_cannot_join) {
    const Cabling wires(3, FarSide::lag_switch);
    TeamUnderTest other(team_config(by_flow, R"({"eth3": {}})", "", "team1"), {}, "team1");
    other.kill(); // it still carries
    must(wires.host(), "ip link add dev bridge0 type bridge; ip link set eth2 master bridge0; "
                       "ip tuntap add dev tun0 mode tun; ip link property add dev eth1 altname lan0");
    const auto bridged = snapshot(wires.host(), "eth2");
    const auto ports =
        R"({"eth1": {}, "eth2": {}, "eth3": {}, "team1": {}, "tun0": {}, "lo": {}, "lan0": {}})";
    const auto planned = daemon_on(team_config(by_flow, ports), {"--dry-run"});
    TeamUnderTest team(team_config(by_flow, ports));
    wires.address();
    EXPECT_TRUE(team.await_link("eth1"));
    EXPECT_TRUE(reaches(wires.host(), client_v4));
    const auto doctor = ask(team, "doctor").out;
    for (const auto& [port, why] : std::initializer_list<std::pair<std::string, std::string>>{
             {"eth2", "is a port of bridge0 already"},
             {"eth3", "is a port of team team1 already"},
             {"team1", "is itself an aggregate"},
             {"tun0", "is not an Ethernet device"},
             {"lo", "is not an Ethernet device"}}) {
        EXPECT_THAT(doctor, HasSubstr(fmt::format("{}: {}", port, why)));
        EXPECT_THAT(planned.out, HasSubstr(fmt::format("\"{}\": \"{}", port, why)));
    }
    EXPECT_THAT(doctor, HasSubstr("lan0: is another name of port eth1"));
    EXPECT_EQ("", difference(bridged, snapshot(wires.host(), "eth2")));
    wires.host().ip("link set eth2 nomaster");
    EXPECT_TRUE(team.await_link("eth2"));
    EXPECT_EQ(0, team.stop());
}

/// Without an event: the address is in use by another device, whose end nobody reports for the port.
TEST(Start, tries_a_refused_port_again_for_ever) {
    const Cabling wires(1, FarSide::lag_switch);
    const NetNs& host = wires.host();
    host.ip("link add other address 02:00:00:00:00:11 link eth1 type macvlan mode bridge\n"
            "link add mac1 link eth1 type macvlan mode bridge\n"
            "link set eth1 up\nlink set other up\nlink set mac1 up");
    ASSERT_TRUE(becomes("UP", [&] { return look(host, "mac1").operstate; }));
    const auto before = snapshot(host, "mac1");
    TeamUnderTest team(team_config(by_flow, R"({"mac1": {}})", R"("hwaddr": "02:00:00:00:00:11", )"));
    if (by_driver(wires) || by_bonding(wires)) GTEST_SKIP() << "a port gets the address after it has joined";
    EXPECT_THAT(ask(team, "doctor").out, HasSubstr("mac1: refuses the address"));
    const auto changes = [&] { return difference(before, snapshot(host, "mac1")); };
    EXPECT_TRUE(becomes("", changes));
    host.ip("link set other down\nlink set other address 02:00:00:00:00:12");
    EXPECT_TRUE(
        eventually("it is a port", [&] { return team.await_item("ports.mac1.link.up", "true"); }, 35s));
    EXPECT_EQ(0, team.stop());
    EXPECT_TRUE(becomes("", changes));
}

TEST(Refusal, too_many_ports) {
    const Cabling wires(9, FarSide::open);
    const auto before = everything(wires);
    expect_refused(wires, before, daemon_on(loadbalance(9)),
                   "/ports/eth9: too many ports: a team has at most 8");
}

struct Privilege {
    const char *name, *without, *missing;
};
std::ostream& operator<<(std::ostream& out, const Privilege& privilege) { return out << privilege.name; }

/// `argv` run by setpriv(1) with changed capabilities.
std::vector<std::string> with_capabilities(const std::string& change, const std::vector<std::string>& argv) {
    std::vector<std::string> words{"setpriv", "--bounding-set=" + change, "--inh-caps=" + change};
    words.insert(words.end(), argv.begin(), argv.end());
    return words;
}

class Refusal : public testing::TestWithParam<Privilege> {};
INSTANTIATE_TEST_SUITE_P(
    Capability, Refusal,
    testing::Values(Privilege{"all", "-all", "CAP_NET_ADMIN, CAP_NET_RAW, CAP_BPF, CAP_PERFMON"},
                    Privilege{"net_admin", "-net_admin", "CAP_NET_ADMIN"},
                    Privilege{"net_raw", "-net_raw", "CAP_NET_RAW"},
                    Privilege{"bpf_sys_admin", "-bpf,-sys_admin", "CAP_BPF"},
                    Privilege{"perfmon_sys_admin", "-perfmon,-sys_admin", "CAP_PERFMON"}),
    [](const auto& privilege) { return privilege.param.name; });

TEST_P(Refusal, missing_capability) {
    const Cabling wires(2, FarSide::open);
    const auto before = everything(wires);
    const ConfigFile config(loadbalance(2));
    const auto refused =
        run({.argv = with_capabilities(GetParam().without, daemon_command({"-f", config.path()}))});
    expect_refused(wires, before, refused, fmt::format("missing privilege: {};", GetParam().missing));
}

TEST(Start, needs_only_four_capabilities) {
    const Cabling wires(2, FarSide::lag_switch);
    const ConfigFile config(loadbalance(2));
    const std::string four = "-all,+net_admin,+net_raw,+bpf,+perfmon";
    auto running = Process::start({.argv = with_capabilities(four, daemon_command({"-f", config.path()}))});
    EXPECT_TRUE(eventually("the team", [] { return std::filesystem::exists("/run/teamd/team0.sock"); }))
        << running.err();
    wires.address();
    EXPECT_TRUE(reaches(wires.host(), client_v4));
    running.signal(SIGTERM);
    EXPECT_EQ(0, running.wait(long_enough)) << running.err();
    EXPECT_FALSE(exists(wires.host(), "team0"));
}

TEST(Refusal, missing_driver) {
    const NoOptionsForAll options;
    const Cabling wires(2, FarSide::open);
    for (const std::string kind : {"team", "bond"}) {
        if (kernel_has_driver(kind)) {
            TeamUnderTest team(loadbalance(2), {"--datapath", kind});
            EXPECT_EQ(kind, look(wires.host(), "team0").kind);
            EXPECT_EQ(0, team.stop());
            continue;
        }
        const auto before = everything(wires);
        const auto refused = daemon_on(loadbalance(2), {"--datapath", kind});
        // The build with sanitizers is without libteam.
        const bool without = kind == "team" && refused.err.find("libteam") != std::string::npos;
        expect_refused(wires, before, refused,
                       without ? "this program was built without libteam and cannot use the team driver"
                               : fmt::format("this kernel has no {} driver; use the datapath bpf", kind));
    }
}

TEST(Check, accepts_every_example_of_libteam_utils) {
    const std::filesystem::path folder = "/usr/share/doc/libteam-utils/examples";
    ASSERT_TRUE(std::filesystem::exists("/usr/bin/teamd")) << "apt-get install libteam-utils";
    if (!std::filesystem::exists(folder) || std::filesystem::is_empty(folder))
        GTEST_SKIP() << "dpkg installs no documents here";
    std::size_t examples = 0;
    for (const auto& example : std::filesystem::directory_iterator(folder)) {
        const auto checked = daemon({"--check", "-f", example.path()});
        EXPECT_EQ(0, checked.status) << example.path() << "\n" << checked.out << checked.err;
        ++examples;
    }
    EXPECT_GE(examples, 10U);
}

TEST(Check, names_every_error_and_changes_nothing) {
    const Cabling wires(2, FarSide::open);
    const auto before = everything(wires);
    const auto checked =
        daemon_on("{\n"
                  "  \"device\": \"team0\",\n"
                  "  \"runner\": {\"name\": \"loadbalance\", \"tx_hash\": [\"eth\", \"ipv5\"]},\n"
                  "  \"ports\": {\"eth1\": {\"prio\": \"1\", \"pri\": 3}}\n"
                  "}\n",
                  {"--check"});
    EXPECT_EQ(1, checked.status);
    const auto said = checked.out + checked.err;
    EXPECT_THAT(said, HasSubstr(".conf:3:56: error: /runner/tx_hash/1: "));
    EXPECT_THAT(said, HasSubstr(".conf:4:30: error: /ports/eth1/prio: "));
    EXPECT_THAT(said, HasSubstr(".conf:4:35: warning: /ports/eth1/pri: "));
    EXPECT_THAT(said, HasSubstr("did you mean \"prio\"")) << "the nearest known name";
    EXPECT_EQ("", difference(before, everything(wires)));
}

TEST(DryRun, prints_the_plan_and_changes_nothing) {
    const Cabling wires(2, FarSide::open);
    const auto before = everything(wires);
    const auto planned = daemon_on(loadbalance(2), {"--dry-run", "--datapath", "bpf"});
    EXPECT_EQ(0, planned.status) << planned.err;
    rapidjson::Document plan;
    ASSERT_FALSE(plan.Parse(planned.out.c_str()).HasParseError()) << planned.out;
    EXPECT_STREQ("team0", plan["team"]["device"].GetString());
    EXPECT_STREQ("bpf", plan["team"]["datapath"].GetString());
    for (const auto* port : {"eth1", "eth2"}) {
        EXPECT_TRUE(plan["ports"][port]["transmits"].GetBool()) << port;
        EXPECT_TRUE(plan["ports"][port]["receives"].GetBool()) << port;
        EXPECT_EQ(128, plan["ports"][port]["buckets"].GetInt()) << port;
        EXPECT_EQ(1500, plan["ports"][port]["mtu"].GetInt()) << port;
        EXPECT_STREQ(plan["team"]["address"].GetString(), plan["ports"][port]["address"].GetString());
    }
    EXPECT_EQ(256U, plan["buckets"].Size());
    EXPECT_EQ("", difference(before, everything(wires)));
}

TEST(DryRun, lists_offload_changes) {
    const Cabling wires(2, FarSide::open);
    must(wires.host(), "ethtool -K eth2 tx-tcp-segmentation off");
    const auto planned = daemon_on(team_config(by_flow, R"({"eth1": {"offload": {"tx-udp-segmentation": "off",
                                                      "tx-esp-segmentation": "require",
                                                      "lacking": "demote"}}, "eth2": {}})"),
                                   {"--dry-run"});
    rapidjson::Document plan;
    ASSERT_FALSE(plan.Parse(planned.out.c_str()).HasParseError()) << planned.out;
    const auto& first = plan["ports"]["eth1"];
    EXPECT_STREQ("off", first["offloads"]["change"]["tx-udp-segmentation"].GetString());
    EXPECT_STREQ("tx-esp-segmentation", first["offloads"]["lacking"][0].GetString());
    EXPECT_FALSE(first["transmits"].GetBool()) << "it is demoted";
    EXPECT_STREQ("on", plan["ports"]["eth2"]["offloads"]["change"]["tx-tcp-segmentation"].GetString());
}

TEST(DryRun, refuses_what_a_start_refuses) {
    const Cabling wires(2, FarSide::open);
    const auto planned = daemon_on(
        team_config(by_flow,
                    R"({"eth1": {"offload": {"rx-lro": "require", "lacking": "refuse"}}, "eth2": {}})"),
        {"--dry-run"});
    rapidjson::Document plan;
    ASSERT_FALSE(plan.Parse(planned.out.c_str()).HasParseError()) << planned.out;
    EXPECT_STREQ("lacks rx-lro, and \"lacking\" is \"refuse\"", plan["refused"]["eth1"].GetString());
    EXPECT_FALSE(plan["ports"].HasMember("eth1"));
    EXPECT_EQ(256, plan["ports"]["eth2"]["buckets"].GetInt());
    {
        const TeamUnderTest team(loadbalance(1), {"--datapath", "bpf"});
        EXPECT_THAT(daemon_on(loadbalance(1), {"--dry-run", "--datapath", "team"}).err,
                    HasSubstr("/datapath: a running team keeps its datapath, bpf"));
    }
    must(wires.host(), "ip link del team0; ip link add team0 type veth peer name other0");
    for (const auto* what : {"--dry-run", "--usock-enable"}) {
        const auto refused = daemon_on(loadbalance(2), {what, "--datapath", "bpf"});
        EXPECT_EQ(1, refused.status) << what;
        EXPECT_THAT(refused.err, HasSubstr("device team0 exists and is not a team")) << what;
    }
}

TEST(DryRun, names_the_workers) {
    const Cabling wires(2, FarSide::open);
    const auto planned =
        daemon_on(R"({"device": "team0", "workers": [{"command": "netns_test", "policy": "spread"},
                                                           {"command": "nobody at all"}]})",
                  {"--dry-run"});
    EXPECT_THAT(planned.out,
                testing::AllOf(HasSubstr(R"("rule": "command netns_test")"),
                               HasSubstr(R"("policy": "spread")"), HasSubstr(std::to_string(::getpid()))))
        << planned.err;
}

TEST(Check, daemon_accepts_what_teamd_accepts) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(team_config(R"({"name": "loadbalance", "tx_hash": ["eth", "ipv5"]})",
                                         R"({"eth1": {"sticky": "true"}, "eth2": {}})"));
    EXPECT_THAT(team.log(), HasSubstr("/runner/tx_hash/1"));
    EXPECT_THAT(team.log(), HasSubstr("/ports/eth1/sticky"));
}

} // namespace
} // namespace teamo::test
