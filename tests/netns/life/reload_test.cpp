// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A running team takes over a changed configuration file (config reload, SIGHUP): what is the same is not
// touched.
//
// lab: Reload.repeats_a_refused_call by none: dozens of reloads, minutes in an emulated machine
#include "netns/configs.h"
#include "support/daemon/lacp_partner.h"
#include "support/daemon/watched_calls.h"
#include "support/net/programs.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

namespace teamo::test {
namespace {

using testing::HasSubstr, testing::Not;

constexpr std::string_view lacp = R"({"name": "lacp", "fallback": true, "fallback_method": "static"})";

class Reload : public testing::Test {
protected:
    void start(const std::string& config) {
        team_.emplace(config);
        for (const auto* port : {"eth1", "eth2"})
            EXPECT_TRUE(team_->await_link(port));
        wires_.address();
        if (exists(wires_.host(), "tmo0")) await_operation(wires_.host(), "tmo0");
    }
    std::string file() const { return team_->item("setup.config_file"); }
    void write(std::string_view config) const { std::ofstream(file()) << config; }
    void reload(std::string_view config) const {
        write(config);
        const auto done = team_->teamoctl({"config", "reload"});
        EXPECT_EQ(0, done.status) << done.err;
    }
    std::string config() const { return team_->teamdctl({"config", "dump"}).out; }
    std::string diff() const { return team_->teamoctl({"config", "diff"}).out; }

    const Cabling wires_{4, FarSide::lag_switch};
    std::optional<TeamUnderTest> team_;
};

/// How often each port's link has changed.
std::map<std::string, std::string> link_changes(const NetNs& in) {
    std::map<std::string, std::string> changes;
    for (const auto* port : {"eth1", "eth2"})
        changes[port] = must(in, fmt::format("cat /sys/class/net/{}/carrier_changes", port));
    return changes;
}

TEST_F(Reload, changes_hash_ports_and_watches_without_a_lost_packet) {
    start(loadbalance(3));
    const auto before = link_changes(wires_.host());
    const auto index = team_->item("team_device.ifinfo.ifindex");
    Stream out({.from = &wires_.host(), .to = &wires_.client(), .address = client_v4, .rate = 2'000});
    reload(team_config(R"({"name": "loadbalance", "tx_hash": ["ipv4"]})",
                       ports_object({"eth1", "eth2", "eth4"}),
                       R"("link_watch": {"name": "ethtool", "delay_up": 100}, )"));
    EXPECT_TRUE(team_->await_item("ports.eth4.datapath.transmits", "true"));
    EXPECT_TRUE(team_->await_item("ports.eth3.link.up", ""));
    EXPECT_FALSE(look(wires_.host(), "eth3").up());
    EXPECT_TRUE(out.flows(200));
    out.stop();
    EXPECT_EQ(0U, out.tally().lost) << text_of(out.tally());
    EXPECT_EQ(before, link_changes(wires_.host()));
    EXPECT_EQ(index, team_->item("team_device.ifinfo.ifindex"));
    EXPECT_EQ("100", team_->item("ports.eth1.link_watches.list.link_watch_0.delay_up"));
    EXPECT_EQ("", diff());
}

TEST_F(Reload, follows_sighup) {
    start(loadbalance(2));
    write(team_config(by_mac, ports_object(3)));
    team_->signal(SIGHUP);
    EXPECT_TRUE(team_->await_item("ports.eth3.datapath.transmits", "true"));
    EXPECT_THAT(team_->log(), HasSubstr("configuration: /runner/tx_hash: "));
    EXPECT_TRUE(team_->running());
}

TEST_F(Reload, shows_what_a_file_changes) {
    start(loadbalance(2));
    const auto dump = config();
    const ConfigFile other(team_config(by_mac, R"({"eth1": {"prio": 5}, "eth3": {}})"));
    const auto expected = "/runner/tx_hash: [\"eth\", \"ipv4\", \"ipv6\", \"l4\"] -> [\"eth\"]\n"
                          "/ports/eth1/prio: added 5\n"
                          "/ports/eth2: removed\n"
                          "/ports/eth3: added {\"link_watch\": {\"name\": \"ethtool\"}}\n";
    EXPECT_EQ(expected, team_->teamoctl({"config", "diff", other.path()}).out);
    EXPECT_EQ(expected, team_->teamoctl({"config", "reload", other.path()}, {"--dry-run"}).out);
    EXPECT_EQ(dump, config());
    EXPECT_EQ("", diff());
}

TEST_F(Reload, and_dry_run_go_on_without_a_port_that_was_removed_and_is_in_a_bridge) {
    start(loadbalance(2));
    wires_.host().ip("link add dev bridge0 type bridge");
    ASSERT_EQ(0, team_->teamdctl({"port", "remove", "eth2"}).status);
    wires_.host().ip("link set eth2 master bridge0");
    EXPECT_EQ("", diff());
    const auto planned = daemon_on(loadbalance(2), {"--dry-run"});
    EXPECT_EQ(0, planned.status) << planned.err;
    EXPECT_THAT(planned.out, HasSubstr("\"eth1\""));
    EXPECT_EQ(0, team_->stop());
    EXPECT_THAT(daemon_on(loadbalance(2), {"--dry-run"}).out, HasSubstr("is a port of bridge0 already"))
        << "as the start of a new team";
}

TEST_F(Reload, refuses_a_bad_file_by_place_and_changes_nothing) {
    start(loadbalance(2));
    const auto dump = config();
    for (const auto& [text, reason] : std::initializer_list<std::pair<std::string, std::string>>{
             {"{\n  \"runner\": {\"name\": }", ":2:22: "},
             {R"({"runner": {"name": "nosuch"}})", ":1:21: error: /runner/name: "},
             {team_config(by_mac, ports_object(2), "", "team9"),
              "/device: a running team keeps its name, team0"},
             {team_config(by_mac, R"({"eth1": {}, "lo": {}})"), "port lo: is not an Ethernet device"},
             {team_config(by_mac, ports_object(2), R"("offload": {"tls-hw-tx-offload": "require"}, )"),
              "/offload/tls-hw-tx-offload: "}}) {
        write(text);
        const auto refused = team_->teamoctl({"config", "reload"});
        EXPECT_EQ(1, refused.status);
        EXPECT_THAT(refused.err, HasSubstr(file()));
        EXPECT_THAT(refused.err, HasSubstr(reason));
        team_->signal(SIGHUP);
        EXPECT_TRUE(
            eventually("the log says why", [&] { return team_->log().find(reason) != std::string::npos; }));
        EXPECT_EQ(dump, config());
    }
    std::filesystem::remove(file());
    EXPECT_EQ(1, team_->teamoctl({"config", "reload"}).status);
    EXPECT_EQ(dump, config());
}

TEST_F(Reload, changes_the_runner) {
    start(loadbalance(2));
    if (by_driver(wires_) || by_bonding(wires_)) {
        write(team_config(activebackup, ports_object(2)));
        const auto refused = team_->teamoctl({"config", "reload"});
        EXPECT_THAT(refused.err,
                    HasSubstr(fmt::format("/runner/name: the kernel's {} driver cannot change from "
                                          "loadbalance to activebackup while the team has ports",
                                          look(wires_.host(), "team0").kind)));
        return;
    }
    const auto before = link_changes(wires_.host());
    for (const auto& [runner, name] : {std::pair{activebackup, "activebackup"},
                                       {lacp, "lacp"},
                                       {std::string_view(R"({"name": "roundrobin"})"), "roundrobin"},
                                       {lacp, "lacp"},
                                       {activebackup, "activebackup"},
                                       {std::string_view(R"({"name": "broadcast"})"), "broadcast"},
                                       {by_flow, "loadbalance"}}) {
        SCOPED_TRACE(name);
        reload(team_config(runner, ports_object(2)));
        EXPECT_EQ(name, team_->item("setup.runner_name"));
        EXPECT_TRUE(reaches(wires_.host(), client_v4));
        EXPECT_EQ(before, link_changes(wires_.host()));
    }
    EXPECT_TRUE(team_->await_item("ports.eth2.datapath.transmits", "true"));
}

TEST(ReloadFromLacp, leaves_the_partner_alone) {
    const Cabling wires(2, FarSide::open);
    TeamUnderTest team(team_config(fast, ports_object(2)));
    if (by_bonding(wires)) GTEST_SKIP() << "a bond keeps its mode";
    const Partner partner(wires, {1, 2});
    wires.host().ip("link set team0 up");
    EXPECT_TRUE(team.await_item("ports.eth1.runner.detail.mux_state", "distributing"));
    std::ofstream(team.item("setup.config_file")) << team_config(
        by_driver(wires) ? by_mac : activebackup, ports_object(2)); // the driver keeps its mode
    EXPECT_EQ(0, team.teamoctl({"config", "reload"}).status);
    const auto ticks = [&] {
        std::istringstream fields(
            must(wires.host(), fmt::format("cut -d' ' -f14,15 /proc/{}/stat", team.pid())));
        int user = 0, system = 0;
        fields >> user >> system;
        return user + system;
    };
    const auto before = ticks();
    std::this_thread::sleep_for(3s); // it sends each second
    EXPECT_TRUE(team.answers());
    EXPECT_LT(ticks() - before, 50) << "hundredths of a second of CPU time in three seconds";
}

TEST_F(Reload, ignores_ports_that_were_removed_by_hand) {
    start(loadbalance(3));
    EXPECT_EQ(0, team_->teamdctl({"port", "remove", "eth3"}).status);
    wires_.host().ip("link add br9 type bridge\nlink set eth3 master br9");
    reload(team_config(by_mac, ports_object(3)));
    EXPECT_EQ("", diff());
}

TEST_F(Reload, changes_lacp_parameters) {
    start(team_config(lacp, ports_object(2)));
    const auto other = team_config(R"({"name": "lacp", "fast_rate": true, "sys_prio": 7, "fallback": true})",
                                   ports_object(2));
    if (by_bonding(wires_)) {
        write(other);
        EXPECT_THAT(team_->teamoctl({"config", "reload"}).err,
                    HasSubstr("/runner: a bond keeps the settings of LACP with which it was made"));
        return;
    }
    reload(other);
    EXPECT_EQ("true", team_->item("runner.fast_rate"));
    EXPECT_TRUE(team_->await_item("ports.eth1.runner.actor_lacpdu_info.system_priority", "7"));
}

TEST_F(Reload, hashes_by_cpu_and_back) {
    start(loadbalance(2));
    Stream out({.from = &wires_.host(), .to = &wires_.client(), .address = client_v4, .rate = 2'000});
    for (const auto* hash : {R"({"name": "loadbalance", "tx_hash": ["cpu", "ipv4"]})",
                             R"({"name": "loadbalance", "tx_hash": ["ipv4"]})"}) {
        reload(team_config(hash, ports_object(2)));
        EXPECT_TRUE(out.flows(100));
    }
    out.stop();
    EXPECT_EQ(0U, out.tally().lost);
}

/// Guard and hash change, so that programs are loaded and put on each port. One call after the other is
/// refused once; then both ports have the programs of the same daemon.
TEST_F(Reload, repeats_a_refused_call) {
    WatchedCalls calls;
    team_.emplace(loadbalance(2), TeamUnderTest::later);
    ASSERT_TRUE(team_->try_to_start(calls));
    for (const auto* port : {"eth1", "eth2"})
        ASSERT_TRUE(team_->await_link(port));
    const auto programs = [&](std::string_view port) { return our_programs(wires_.host(), port); };
    const auto datapath = [&] {
        const auto lines = our_programs(wires_.host(), "eth1");
        return lines.substr(std::min(lines.find("teamo_receive"), lines.size()));
    };
    const auto other = team_config(R"({"name": "loadbalance", "tx_hash": ["cpu", "ipv4"]})", ports_object(2),
                                   R"("guard": "arp", )");
    const auto first = calls.count();
    reload(other);
    const auto guarded = programs("eth1");
    EXPECT_THAT(guarded, HasSubstr("teamo_guard"));
    const auto steps = calls.count() - first;
    EXPECT_GT(steps, 10U);
    const unsigned stride = std::getenv("TEAMO_EVERY_STEP") != nullptr ? 1 : 3; // 18: the program of eth1
    for (unsigned step = stride; step <= steps && !HasFailure(); step += stride) {
        reload(loadbalance(2));
        EXPECT_THAT(programs("eth1"), Not(HasSubstr("teamo_guard")));
        const auto former = datapath();
        calls.refuse(calls.count() + step, ENOMEM);
        write(other);
        if (team_->teamoctl({"config", "reload"}).status != 0) reload(other); // as an administrator would
        EXPECT_TRUE(eventually("both ports have the new programs",
                               [&] {
                                   const auto now = programs("eth1");
                                   return now == programs("eth2") && datapath() != former &&
                                          now.find("teamo_guard") != now.npos;
                               }))
            << step << " of " << steps << ": " << calls.what() << "\n"
            << programs("eth1") << programs("eth2");
    }
}

TEST_F(Reload, shows_a_port_that_keeps_the_former_program) {
    WatchedCalls calls;
    team_.emplace(loadbalance(2), TeamUnderTest::later);
    ASSERT_TRUE(team_->try_to_start(calls));
    if (by_driver(wires_) || by_bonding(wires_)) {
        EXPECT_EQ(0, team_->stop());
        GTEST_SKIP() << "the programs of its ports are the same for each hash, or there are none";
    }
    const auto other = team_config(R"({"name": "loadbalance", "tx_hash": ["cpu", "ipv4"]})", ports_object(2));
    const auto refused = [&] {
        return team_->teamoctl({"state", "dump"}).out.find("\"what\"") != std::string::npos;
    };
    bool seen = false;
    for (unsigned step = 1; step <= 60 && !seen && !HasFailure(); ++step) {
        reload(loadbalance(2));
        calls.refuse(calls.count() + step, EPERM); // not a passing reason
        write(other);
        static_cast<void>(team_->teamoctl({"config", "reload"})); // refused as a whole at some steps
        seen = refused();
    }
    EXPECT_TRUE(seen) << "no call was refused for a port";
    reload(loadbalance(2));
    reload(other);
    EXPECT_FALSE(refused()) << team_->teamoctl({"state", "dump"}).out;
}

TEST_F(Reload, changes_settings_of_subsystems) {
    start(loadbalance(2));
    reload(team_config(by_flow, ports_object(2),
                       R"("balance": {"aware": true, "max_wait": 700}, "interrupts": {"policy": "off"},
                          "workers": [{"command": "nosuch", "policy": "spread"}], "hwaddr": "02:00:00:00:00:77",
                          "offload": {"lacking": "demote"}, "debug_level": 1, )"));
    EXPECT_EQ("off", team_->item("interrupts.policy"));
    EXPECT_EQ("false", team_->item("interrupts.managed"));
    EXPECT_EQ("true", team_->item("balance.on"));
    EXPECT_EQ("1", team_->item("setup.debug_level"));
    EXPECT_TRUE(eventually("team and port have the new address", [&] {
        return look(wires_.host(), "team0").address == "02:00:00:00:00:77" &&
               look(wires_.host(), "eth2").address == "02:00:00:00:00:77";
    }));
    reload(loadbalance(2));
    EXPECT_EQ("unique", team_->item("interrupts.policy"));
    EXPECT_EQ("false", team_->item("balance.on"));
}

TEST_F(Reload, keeps_what_was_requested_by_hand) {
    start(loadbalance(3));
    EXPECT_EQ(0, team_->teamdctl({"port", "add", "eth4"}).status);
    EXPECT_EQ(0, team_->teamdctl({"port", "remove", "eth3"}).status);
    EXPECT_EQ(0, team_->teamdctl({"state", "item", "set", "setup.debug_level", "1"}).status);
    reload(team_config(by_mac, ports_object(3)));
    EXPECT_EQ("true", team_->item("ports.eth4.link.up"));
    EXPECT_EQ("", team_->item("ports.eth3.link.up"));
    EXPECT_EQ("1", team_->item("setup.debug_level"));
    // A port that the file lists anew joins.
    reload(team_config(by_mac, ports_object(2)));
    reload(team_config(by_mac, ports_object(3)));
    EXPECT_TRUE(team_->await_item("ports.eth3.link.up", "true"));
}

TEST_F(Reload, gives_the_configured_address_when_the_policy_changes) {
    const auto config = [](const char* policy) {
        return team_config(fmt::format(R"({{"name": "activebackup", "hwaddr_policy": "{}"}})", policy),
                           ports_object(2), R"("hwaddr": "02:00:00:00:00:77", )");
    };
    start(config("by_active"));
    EXPECT_NE("02:00:00:00:00:77", look(wires_.host(), "team0").address);
    reload(config("same_all"));
    EXPECT_TRUE(
        becomes(std::string("02:00:00:00:00:77"), [&] { return look(wires_.host(), "team0").address; }));
}

TEST_F(Reload, is_not_needed_after_a_restart) {
    start(loadbalance(3));
    EXPECT_EQ(0, team_->teamdctl({"port", "add", "eth4"}).status);
    write(team_config(by_mac, ports_object(2)));
    team_->kill();
    team_->start();
    EXPECT_TRUE(team_->await_item("ports.eth3.link.up", ""));
    EXPECT_EQ("true", team_->item("ports.eth4.link.up"));
    EXPECT_TRUE(reaches(wires_.host(), client_v4));
    const auto has_address = [this](const std::string& address) {
        return eventually("team and port have " + address, [&] {
            return look(wires_.host(), "team0").address == address &&
                   look(wires_.host(), "eth2").address == address;
        });
    };
    write(team_config(by_mac, ports_object(2), R"("hwaddr": "02:00:00:00:00:77", )"));
    team_->kill();
    team_->start();
    EXPECT_TRUE(has_address("02:00:00:00:00:77"));
    // By hand, after the configured one was set.
    wires_.host().ip("link set team0 address 02:00:00:00:00:78");
    EXPECT_TRUE(has_address("02:00:00:00:00:78"));
    team_->kill();
    team_->start();
    EXPECT_EQ("02:00:00:00:00:78", look(wires_.host(), "team0").address);
}

} // namespace
} // namespace teamo::test
