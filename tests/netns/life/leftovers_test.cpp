// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a killed daemon leaves half done, what other programs change meanwhile, and failures that may pass.
//
// lab: Leftovers.* PassingFailure.* by team, 25 s, long
#include "netns/configs.h"
#include "netns/life/operators.h"
#include "netns/traffic/foreign_programs.h"
#include "support/daemon/nobody.h"
#include "support/daemon/watched_calls.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace teamo::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr const char* journal_file = "/run/teamd-offload/team0.json";

std::string one_port(const std::string& port, const std::string& team = "team0") {
    return team_config(by_flow, ports_object(std::vector{port}), "", team);
}
bool has_mark(const Cabling& wires, const std::string& port, const std::string& mark) {
    const auto names = look(wires.host(), port).altnames;
    return std::ranges::find(names, mark) != names.end();
}
std::string text_in(const std::string& path) {
    std::ifstream stream(path);
    return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(Leftovers, ignores_locks_of_other_users) {
    const Cabling wires(2, FarSide::open);
    TeamUnderTest team(loadbalance(2));
    const auto users = lock_as_unprivileged_user();
    EXPECT_TRUE(eventually("the user holds the locks that it can get", [&] {
        return std::ranges::any_of(users, [](const auto& one) { return !one.out().empty(); });
    }));
    team.kill();
    team.start();
    EXPECT_TRUE(team.await_link("eth2"));
    EXPECT_EQ(0, daemon({"-e", "-t", "team0"}).status);
    team.kill();
    EXPECT_EQ(1, daemon({"-e", "-t", "team0"}).status) << "the lock shows that it runs, not the pid";
    EXPECT_EQ(1, daemon({"-k", "-t", "team0"}).status);
    team.start();
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ("", must(wires.host(), "find /run/teamd ! -type d"));
}

/// Writes a journal entry as join() does before it changes anything.
void note_as_joining(const Cabling& wires, const std::string& port, unsigned slot) {
    auto text = text_in(journal_file);
    const auto device = look(wires.host(), port);
    const auto at = text.find("\"ports\": [");
    ASSERT_NE(at, std::string::npos);
    text.insert(at + 10,
                fmt::format(R"({{"ifindex": {}, "slot": {}, "state": "joining", "name": "{}", "address": "{}",
                                          "mtu": {}, "flags": 4098, "disable_ipv6": false, "made_clsact": false}}, )",
                            device.index, slot, port, device.address, device.mtu));
    std::ofstream(journal_file) << text;
}

TEST(Leftovers, finishes_a_half_joined_port) {
    for (const bool marked : {false, true}) {
        const Cabling wires(2, FarSide::open);
        const auto before = snapshot(wires.host(), "eth2");
        TeamUnderTest team(loadbalance(2), {"-n"});
        ASSERT_EQ(0, team.teamdctl({"port", "add", "eth1"}).status);
        team.kill();
        note_as_joining(wires, "eth2", 2);
        if (marked) wires.host().ip("link property add dev eth2 altname teamo-port-team0-2");
        team.start();
        EXPECT_TRUE(team.await_link("eth2")) << marked;
        EXPECT_TRUE(has_mark(wires, "eth2", "teamo-port-team0-2"));
        EXPECT_EQ("1\n", must(wires.host(), "cat /proc/sys/net/ipv6/conf/eth2/disable_ipv6"));
        EXPECT_EQ(0, team.stop());
        EXPECT_EQ("", difference(before, snapshot(wires.host(), "eth2")));
        wires.host().ip("link del eth1\nlink del eth2");
    }
}

/// A port that left the namespace in the middle of joining comes back with what was changed.
TEST(Leftovers, knows_the_settings_of_a_port_that_left_while_it_joined) {
    const Cabling wires(2, FarSide::open);
    const auto before = snapshot(wires.host(), "eth2");
    TeamUnderTest team(loadbalance(2), {"-n"});
    ASSERT_EQ(0, team.teamdctl({"port", "add", "eth1"}).status);
    team.kill();
    note_as_joining(wires, "eth2", 2);
    const auto elsewhere = NetNs::create();
    wires.host().ip("link property add dev eth2 altname teamo-port-team0-2\n"
                    "link set eth2 address 02:00:00:00:00:99 mtu 1400\n"
                    "link set eth2 netns " +
                    elsewhere.path());
    team.start();
    EXPECT_TRUE(team.await_link("eth1"));
    elsewhere.ip("link set eth2 netns " + wires.host().path());
    EXPECT_TRUE(team.await_link("eth2"));
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ("", difference(before, snapshot(wires.host(), "eth2")));
}

TEST(Leftovers, recreates_a_device_without_a_mark) {
    const Cabling wires(1, FarSide::open);
    wires.host().ip("link add dev team0 type veth peer name tmo0\n"
                    "link property add dev tmo0 altname teamo-inner-team0");
    const TeamUnderTest team(loadbalance(1), {"--datapath", "bpf"});
    EXPECT_TRUE(team.await_link("eth1"));
}

/// The steps that the error of may_join() suggests for a port of a team that no longer exists.
TEST(Leftovers, skips_a_port_of_another_team) {
    const Cabling wires(2, FarSide::lag_switch);
    TeamUnderTest first(one_port("eth1"));
    EXPECT_TRUE(first.await_link("eth1"));
    first.kill();
    wires.host().ip("link del team0\nlink property del dev eth1 altname teamo-port-team0-1");
    TeamUnderTest second(one_port("eth1", "team1"), {}, "team1");
    wires.host().ip("link set team1 mtu 1400");
    wires.address("team1");
    EXPECT_TRUE(reaches(wires.host(), client_v4));
    const auto taken = snapshot(wires.host(), "eth1");
    TeamUnderTest again(one_port("eth2"));
    EXPECT_TRUE(again.await_link("eth2"));
    EXPECT_EQ("", difference(taken, snapshot(wires.host(), "eth1")));
    EXPECT_TRUE(reaches(wires.host(), client_v4));
}

TEST(Leftovers, skips_a_port_of_a_bridge) {
    const Cabling wires(2, FarSide::open);
    TeamUnderTest team(one_port("eth1"));
    team.kill();
    wires.host().ip("link del team0\nlink add dev bridge0 type bridge\nlink set eth1 master bridge0");
    TeamUnderTest again(one_port("eth2"));
    EXPECT_EQ("bridge0", look(wires.host(), "eth1").master);
    EXPECT_TRUE(look(wires.host(), "eth1").altnames.empty());
}

TEST(Leftovers, keeps_an_unreadable_journal) {
    const Cabling wires(1, FarSide::open);
    TeamUnderTest team(loadbalance(1));
    EXPECT_TRUE(team.await_link("eth1"));
    team.kill();
    for (const bool device : {true, false}) {
        if (!device) wires.host().ip("link del team0");
        std::ofstream(journal_file) << "torn";
        team.start();
        EXPECT_TRUE(team.await_link("eth1"));
        EXPECT_THAT(team.log(), HasSubstr("the file is kept as /run/teamd-offload/team0.json.unreadable"));
        EXPECT_EQ("torn", text_in("/run/teamd-offload/team0.json.unreadable"));
        std::filesystem::remove("/run/teamd-offload/team0.json.unreadable");
        team.kill();
    }
}

/// The kernel sends no event when an alternative name of a device that is down changes.
TEST(Marks, notices_removal_on_a_device_that_is_down) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(1));
    const TeamUnderTest other(one_port("eth2", "team1"), {}, "team1");
    ASSERT_EQ(0, team.teamdctl({"port", "remove", "eth1"}).status);
    ASSERT_EQ(0, team.teamdctl({"port", "add", "eth1"}).status);
    EXPECT_TRUE(has_mark(wires, "eth1", "teamo-port-team0-1"));
    ASSERT_EQ(0, team.teamdctl({"port", "remove", "eth1"}).status);
    const auto added = other.teamdctl({"port", "add", "eth1"});
    EXPECT_EQ(0, added.status) << added.err;
}

TEST(Marks, survive_a_move_between_namespaces) {
    const Cabling wires(2, FarSide::open);
    const auto address = look(wires.host(), "eth2").address;
    TeamUnderTest team(loadbalance(2));
    EXPECT_TRUE(team.await_link("eth2"));
    ASSERT_NE(address, look(wires.host(), "eth2").address);
    const auto elsewhere = NetNs::create();
    wires.host().ip("link set eth2 netns " + elsewhere.path());
    EXPECT_TRUE(team.await_item("ports.eth2.link.up", ""));
    elsewhere.ip("link set eth2 netns " + wires.host().path());
    EXPECT_TRUE(team.await_link("eth2"));
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ(address, look(wires.host(), "eth2").address);
    EXPECT_TRUE(look(wires.host(), "eth2").altnames.empty());
}

TEST(PassingFailure, port_appears_in_a_bridge) {
    const Cabling wires(1, FarSide::open);
    wires.host().ip("link add dev bridge0 type bridge");
    const TeamUnderTest team(loadbalance(2));
    wires.host().ip("link add dev later type veth peer name p2 netns " + wires.peer().path() +
                    "\nlink set later master bridge0");
    wires.peer().ip("link set p2 up");
    wires.host().ip("link set later name eth2");
    EXPECT_TRUE(eventually("it is refused", [&] {
        return team.log().find("port eth2: is a port of bridge0") != std::string::npos;
    }));
    EXPECT_THAT(ask(team, "doctor").out, HasSubstr("is a port of bridge0 already"));
    wires.host().ip("link set eth2 nomaster");
    EXPECT_TRUE(team.await_link("eth2"));
    EXPECT_THAT(ask(team, "state dump").out, Not(HasSubstr("is a port of bridge0")));
}

TEST(PassingFailure, no_inotify_instance_left) {
    const Cabling wires(1, FarSide::open);
    TeamUnderTest team(loadbalance(1));
    EXPECT_TRUE(team.await_link("eth1"));
    team.kill();
    WatchedCalls calls;
    calls.refuse_all(SYS_inotify_init1, EMFILE);
    EXPECT_TRUE(team.try_to_start(calls)) << team.log();
    EXPECT_TRUE(team.await_link("eth1"));
    EXPECT_EQ(0, team.stop());
}

TEST(PassingFailure, no_device_list_at_start) {
    const Cabling wires(1, FarSide::open);
    TeamUnderTest team(loadbalance(1), TeamUnderTest::later);
    WatchedCalls calls;
    calls.refuse_lists(1000);
    EXPECT_FALSE(team.try_to_start(calls));
    EXPECT_EQ(75, team.ended()) << "the unit restarts after 75, not after 1";
    EXPECT_FALSE(exists(wires.host(), "team0"));
}

TEST(Start, failure_leaves_nothing_with_no_quit_destroy) {
    const Cabling wires(1, FarSide::open);
    const auto before = snapshot(wires.host(), "eth1");
    TeamUnderTest team(loadbalance(1), TeamUnderTest::later);
    WatchedCalls calls;
    calls.refuse(30, EIO); // a table, after the device is made
    EXPECT_FALSE(team.try_to_start(calls, {"-N", "--datapath", "bpf"}));
    EXPECT_EQ(1, team.ended());
    EXPECT_THAT(calls.steps(), testing::Contains("netlink 0 message 108")) << "the team's mark";
    EXPECT_FALSE(exists(wires.host(), "team0"));
    EXPECT_EQ("", difference(before, snapshot(wires.host(), "eth1")));
}

TEST(Start, works_beside_a_filter_at_our_place) {
    const Cabling wires(1, FarSide::lag_switch);
    const PinnedFilter foreign("foreign");
    must(wires.host(),
         fmt::format("tc qdisc add dev eth1 clsact; tc filter add dev eth1 ingress prio 50000 handle 0x7ea0 "
                     "bpf direct-action object-pinned {}",
                     foreign.path())); // the priority and handle that we use
    TeamUnderTest team(loadbalance(1));
    bring_up(wires, team);
    EXPECT_TRUE(reaches(wires.client(), team_v4));
    EXPECT_GT(foreign.seen(), 0U);
    EXPECT_EQ(0, team.stop());
    EXPECT_THAT(must(wires.host(), "tc filter show dev eth1 ingress"), HasSubstr("foreign"));
}

} // namespace
} // namespace teamo::test
