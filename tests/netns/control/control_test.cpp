// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The control socket, used by Debian's teamdctl and by our teamoctl.
//
// lab: Teamdctl.* Teamoctl.* */TeamoctlOutput.* ControlSocket.* by none: does not depend on the datapath
#include "netns/configs.h"

#include <gmock/gmock.h>

#include <sys/stat.h>

#include <algorithm>
#include <fstream>

namespace teamo::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using Words = std::vector<std::string>;

/// Two ports, with their links up.
struct Running {
    Cabling wires{2, FarSide::open};
    TeamUnderTest team;
    explicit Running(const std::string& config = loadbalance(2)) : team(config) {
        for (const auto* port : {"eth1", "eth2"})
            if (!team.await_item(fmt::format("ports.{}.link.up", port), "true"))
                throw SetupError("a link does not come up");
    }
};

TEST(Teamdctl, prints_the_state_as_with_teamd) {
    const Running running;
    const std::string port = R"(
    link watches:
      link summary: up
      instance[link_watch_0]:
        name: ethtool
        link: up
        down count: 0
)";
    const auto shown = running.team.teamdctl({"state"});
    EXPECT_EQ(0, shown.status) << shown.err;
    EXPECT_EQ("setup:\n  runner: loadbalance\nports:\n  eth1" + port + "  eth2" + port, shown.out);
    EXPECT_EQ("", shown.err);
}

TEST(Teamdctl, prints_the_active_port_and_details) {
    const Running running(ranked_activebackup(2));
    EXPECT_THAT(running.team.teamdctl({"state", "view"}).out, HasSubstr("\nrunner:\n  active port: eth1\n"));
    const auto detailed = running.team.teamdctl({"state", "view"}, {"-v"});
    EXPECT_EQ(0, detailed.status) << detailed.err;
    EXPECT_THAT(detailed.out,
                AllOf(HasSubstr("kernel team mode: activebackup"), HasSubstr("D-BUS enabled: no"),
                      HasSubstr("ZeroMQ enabled: no"), HasSubstr("debug level: 0"),
                      HasSubstr("daemonized: no"), HasSubstr(fmt::format("PID: {}", running.team.pid())),
                      HasSubstr("PID file: "), HasSubstr("/run/teamd/team0.pid"),
                      HasSubstr("ethtool link: 10000mbit/fullduplex/up"), HasSubstr("ifindex: 1000001"),
                      HasSubstr("link up delay: 0"), HasSubstr("link down delay: 0")));
}

TEST(Teamdctl, gets_every_item_of_the_state) {
    const Running running(ranked_activebackup(2));
    const auto get = [&](const std::string& path) {
        return running.team.teamdctl({"state", "item", "get", path}).out;
    };
    EXPECT_EQ("activebackup\n", get("setup.runner_name"));
    EXPECT_EQ("false\n", get("setup.daemonized"));
    EXPECT_EQ("0\n", get("setup.debug_level"));
    EXPECT_EQ("eth1\n", get("runner.active_port"));
    EXPECT_EQ("true\n", get("ports.eth2.link_watches.list.link_watch_0.up"));
    EXPECT_EQ("1000002\n", get("ports.eth2.ifinfo.ifindex"));
    EXPECT_EQ(look(running.wires.host(), "team0").address + "\n", get("team_device.ifinfo.dev_addr"));
    const auto none = running.team.teamdctl({"state", "item", "get", "no.such.item"});
    EXPECT_EQ(1, none.status);
    EXPECT_THAT(none.err, HasSubstr("PathDoesNotExist"));
}

TEST(Teamdctl, sets_the_same_items_as_with_teamd) {
    const Running running;
    const auto set = [&](const std::string& path, const std::string& value) {
        return running.team.teamdctl({"state", "item", "set", path, value});
    };
    EXPECT_EQ(0, set("setup.debug_level", "1").status);
    EXPECT_EQ("1", running.team.item("setup.debug_level"));
    EXPECT_THAT(set("setup.pid", "1").err, HasSubstr("OpNotSupp"));
    EXPECT_THAT(set("no.such.item", "1").err, HasSubstr("PathDoesNotExist"));
    EXPECT_EQ(1, set("setup.debug_level", "much").status);
    EXPECT_EQ("1", running.team.item("setup.debug_level"));
}

TEST(Teamdctl, dumps_the_configuration_with_defaults) {
    const Running running(
        R"({"device": "team0", "runner": {"name": "activebackup"}, "ports": {"eth1": {}, "eth2": {}}})");
    const auto dump = running.team.teamdctl({"config", "dump"});
    EXPECT_EQ(0, dump.status);
    EXPECT_EQ(R"({
    "device": "team0",
    "mcast_rejoin": {
        "count": 1
    },
    "notify_peers": {
        "count": 1
    },
    "ports": {
        "eth1": {
            "link_watch": {
                "name": "ethtool"
            }
        },
        "eth2": {
            "link_watch": {
                "name": "ethtool"
            }
        }
    },
    "runner": {
        "name": "activebackup"
    }
}
)",
              dump.out);
    EXPECT_THAT(running.team.teamdctl({"config", "dump", "noports"}).out, Not(HasSubstr("eth1")));
}

TEST(Teamdctl, dumps_the_current_ports_as_actual) {
    const Running running(team_config(by_flow, R"({"eth1": {"prio": 3}, "eth2": {}, "eth9": {}})"));
    EXPECT_THAT(running.team.teamdctl({"config", "dump"}).out, HasSubstr("eth9"));
    const auto actual = running.team.teamdctl({"config", "dump", "actual"});
    EXPECT_THAT(actual.out, AllOf(Not(HasSubstr("eth9")), HasSubstr("eth2"), HasSubstr("\"prio\": 3")));
    ASSERT_EQ(0, running.team.teamdctl({"port", "remove", "eth1"}).status);
    EXPECT_THAT(running.team.teamdctl({"config", "dump", "actual"}).out, Not(HasSubstr("eth1")));
}

TEST(Teamdctl, adds_and_removes_ports) {
    const Running running;
    const auto port = [&](const Words& words) {
        Words all{"port"};
        all.insert(all.end(), words.begin(), words.end());
        return running.team.teamdctl(all);
    };
    EXPECT_EQ(0, port({"present", "eth2"}).status);
    EXPECT_EQ(0, port({"remove", "eth2"}).status);
    EXPECT_NE(0, port({"present", "eth2"}).status);
    EXPECT_THAT(port({"remove", "eth2"}).err, HasSubstr("NoSuchDev"));
    EXPECT_EQ(0, port({"add", "eth2"}).status);
    EXPECT_EQ(0, port({"present", "eth2"}).status);
    EXPECT_TRUE(running.team.await_link("eth2"));
    EXPECT_THAT(port({"add", "eth2"}).err, HasSubstr("PortAddFail"));
    EXPECT_THAT(port({"add", "eth9"}).err, HasSubstr("NoSuchDev"));
    EXPECT_THAT(port({"add", "lo"}).err, HasSubstr("PortAddFail"));
    EXPECT_THAT(port({"add", "team0"}).err, HasSubstr("PortAddFail"));
    EXPECT_TRUE(running.team.link_is_up("eth1"));
}

TEST(Teamdctl, updates_and_dumps_a_ports_configuration) {
    const Running running;
    running.wires.add_cable(3);
    const auto update = [&](const std::string& port, const std::string& config) {
        return running.team.teamdctl({"port", "config", "update", port, config});
    };
    EXPECT_EQ(0, update("eth1", R"({"prio": 7, "sticky": true})").status);
    EXPECT_EQ("{\n    \"prio\": 7,\n    \"sticky\": true\n}\n",
              running.team.teamdctl({"port", "config", "dump", "eth1"}).out);
    EXPECT_EQ(0, update("eth3", R"({"prio": 9})").status) << "NetworkManager does this before it adds a port";
    EXPECT_EQ(0, running.team.teamdctl({"port", "add", "eth3"}).status);
    EXPECT_THAT(running.team.teamdctl({"port", "config", "dump", "eth3"}).out, HasSubstr("\"prio\": 9"));
    EXPECT_THAT(update("eth9", "{}").err, HasSubstr("NoSuchDev"));
    EXPECT_THAT(update("eth1", "no json").err, HasSubstr("ConfigUpdateFail"));
    EXPECT_THAT(running.team.teamdctl({"port", "config", "dump", "eth9"}).err, HasSubstr("NoSuchDev"));
    EXPECT_THAT(running.team.teamdctl({"port", "config", "dump", "eth1"}).out, HasSubstr("\"prio\": 7"));
}

class TeamoctlOutput : public testing::TestWithParam<std::pair<Words, Words>> {};
INSTANTIATE_TEST_SUITE_P(Command, TeamoctlOutput,
                         testing::Values(std::pair{Words{"state"}, Words{}}, std::pair{Words{"sta"}, Words{}},
                                         std::pair{Words{"state", "view"}, Words{}},
                                         std::pair{Words{"state", "view"}, Words{"-v"}},
                                         std::pair{Words{"state", "view"}, Words{"-v", "-v"}},
                                         std::pair{Words{"state", "dump"}, Words{}},
                                         std::pair{Words{"state", "dump"}, Words{"-o"}},
                                         std::pair{Words{"config", "dump"}, Words{}},
                                         std::pair{Words{"config", "dump"}, Words{"--oneline"}},
                                         std::pair{Words{"config", "dump", "actual"}, Words{}},
                                         std::pair{Words{"config", "dump", "noports"}, Words{}},
                                         std::pair{Words{"state", "item", "get", "setup.pid"}, Words{}},
                                         std::pair{Words{"state", "item", "get", "nothing"}, Words{}},
                                         std::pair{Words{"state", "item", "set", "setup.pid", "3"}, Words{}},
                                         std::pair{Words{"port", "present", "eth1"}, Words{}},
                                         std::pair{Words{"port", "present", "eth9"}, Words{}},
                                         std::pair{Words{"port", "config", "dump", "eth1"}, Words{}},
                                         std::pair{Words{"port", "config", "dump", "eth1"}, Words{"-o"}},
                                         std::pair{Words{"port", "add", "eth9"}, Words{}},
                                         std::pair{Words{"port", "rem", "eth9"}, Words{}},
                                         std::pair{Words{"conf", "dump"}, Words{"-U"}}));

TEST_P(TeamoctlOutput, equals_teamdctl) {
    const Running running(ranked_activebackup(2));
    const auto& [words, options] = GetParam();
    const auto differs = [&, command = words, flags = options] {
        const auto theirs = running.team.teamdctl(command, flags),
                   ours = running.team.teamoctl(command, flags);
        return difference(fmt::format("{}\nstatus {}", theirs.out, theirs.status),
                          fmt::format("{}\nstatus {}", ours.out, ours.status));
    };
    EXPECT_TRUE(becomes("", differs)); // our own counters change between the two calls
    const auto ours = running.team.teamoctl(words, options);
    EXPECT_EQ(ours.status == 0 ? 0 : 1, std::ranges::count(ours.err, '\n'))
        << "an error is one line: " << ours.err;
}

TEST(Teamoctl, measures_ports_and_cpus_for_a_second) {
    const Running running;
    const auto measured = running.team.teamoctl({"stats", "live"}, {"--json"});
    EXPECT_EQ(0, measured.status) << measured.err;
    EXPECT_THAT(measured.out, AllOf(HasSubstr("\"service_demand_us_per_kib\""), HasSubstr("\"eth2\""),
                                    HasSubstr("\"interrupt_share\"")));
}

TEST(Teamoctl, names_a_missing_team) {
    const auto refused = run({.argv = {teamoctl_program(), "team9", "state"}});
    EXPECT_EQ(1, refused.status);
    EXPECT_EQ(1, std::ranges::count(refused.err, '\n')) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("team9"));
    EXPECT_EQ("", refused.out);
}

TEST(Teamoctl, exits_with_2_on_bad_usage) {
    const Running running;
    EXPECT_EQ(2, run({.argv = {teamoctl_program(), "-v"}}).status);
    EXPECT_EQ(2, running.team.teamoctl({"fly"}).status);
    const auto misused = running.team.teamoctl({"balance", "move", "300", "eth1"});
    EXPECT_EQ(2, misused.status);
    EXPECT_THAT(misused.err,
                testing::AllOf(HasSubstr("\"300\" is not a bucket"), HasSubstr("help balance move")));
    EXPECT_EQ(2, std::ranges::count(misused.err, '\n')) << "the message does not scroll away";
    EXPECT_EQ(0, run({.argv = {teamoctl_program(), "--help"}}).status);
    EXPECT_THAT(run({.argv = {teamoctl_program(), "bench", "--help"}}).out, HasSubstr("--rounds"));
    EXPECT_THAT(run({.argv = {teamoctl_program(), "team0", "balance", "move", "--help"}}).out,
                HasSubstr("BUCKET"));
    EXPECT_THAT(run({.argv = {teamoctl_program(), "--version"}}).out, StartsWith("teamoctl "));
}

TEST(Teamoctl, checks_what_the_teams_run_with) {
    const Running running;
    const auto checked = run({.argv = {teamoctl_program(), "import", "teamd"}});
    EXPECT_EQ(0, checked.status) << checked.err;
    EXPECT_THAT(checked.out, HasSubstr("team0: team0: starts, runner "));
    std::ofstream("/run/bad.conf") << R"({"device": "team1", "runner": {"name": "fastest"}})";
    const auto refused = run({.argv = {teamoctl_program(), "import", "teamd", "/run/bad.conf", "/run/none"}});
    EXPECT_EQ(1, refused.status);
    EXPECT_THAT(refused.out, HasSubstr("/run/bad.conf: does not start with teamd-offload"));
    EXPECT_THAT(refused.out, HasSubstr("/run/none"));
}

TEST(ControlSocket, is_for_root_and_is_read_by_the_group_of_the_daemon) {
    const Running running;
    struct stat status{};
    ASSERT_EQ(0, ::stat("/run/teamd/team0.sock", &status));
    EXPECT_EQ(0660U, status.st_mode & 07777U);
    const auto as_user = [](const std::string& groups, Words words) {
        Words argv{"setpriv", "--reuid=65534", "--regid=65534", groups, teamoctl_program(), "team0"};
        argv.insert(argv.end(), words.begin(), words.end());
        return run({.argv = argv});
    };
    const std::string member = "--groups=0"; // the daemon of a test runs with group 0
    EXPECT_EQ(0, as_user(member, {"state", "dump"}).status);
    EXPECT_EQ(0, as_user(member, {"config", "dump"}).status);
    for (const auto& change : {Words{"port", "remove", "eth1"}, Words{"balance", "freeze"},
                               Words{"state", "item", "set", "setup.debug_level", "1"}}) {
        const auto refused = as_user(member, change);
        EXPECT_EQ(1, refused.status) << change.front();
        EXPECT_THAT(refused.err, HasSubstr("Only root may do this (AccessDenied)"));
    }
    const auto refused = as_user("--clear-groups", {"state", "dump"});
    EXPECT_EQ(1, refused.status);
    EXPECT_THAT(refused.err, HasSubstr("only root and the group of the daemon may"));
    EXPECT_EQ("true", running.team.item("ports.eth1.link.up")) << "the port is still there";
}

TEST(ControlSocket, answers_unknown_requests) {
    const Running running;
    const auto socket = ControlSocket::to("team0");
    const auto answer = [&](std::string_view record) {
        EXPECT_TRUE(socket->send(record));
        return socket->receive().value_or("no answer");
    };
    EXPECT_THAT(answer("REQUEST\nMakeCoffee\n"), StartsWith("REPLY_ERROR\nUnknownMethod\n"));
    EXPECT_THAT(answer("nonsense"), StartsWith("REPLY_ERROR\n"));
    EXPECT_THAT(answer("REQUEST\nPortAdd\n"), StartsWith("REPLY_ERROR\nInvalidArgs\n"));
    EXPECT_THAT(answer("REQUEST\nPortAdd\neth\\x\n"), StartsWith("REPLY_ERROR\nInvalidArgs\n"));
    EXPECT_THAT(answer(std::string(1000, '\0')), StartsWith("REPLY_ERROR\n"));
    EXPECT_THAT(answer("REQUEST\nStateDump\n"), StartsWith("REPLY_SUCCESS\n{"))
        << "the connection still works";
}

TEST(ControlSocket, is_not_blocked_by_a_client_that_does_not_read) {
    const Running running;
    std::vector<ControlSocket> silent;
    for (int clients = 0; clients < 4; ++clients) {
        silent.push_back(std::move(*ControlSocket::to("team0")));
        for (int requests = 0; requests < 5'000 && silent.back().send("REQUEST\nStateDump\n");)
            ++requests;
    }
    for (int times = 0; times < 20; ++times)
        EXPECT_TRUE(running.team.answers());
    const auto link_is_seen = [&] { return running.team.item("ports.eth1.link.up") == "false"; };
    running.wires.pull(1);
    EXPECT_TRUE(eventually("a lost link is still seen", link_is_seen));
}

TEST(ControlSocket, serves_many_clients) {
    const Running running;
    std::vector<ControlSocket> clients;
    clients.reserve(50);
    for (int count = 0; count < 50; ++count)
        clients.push_back(std::move(*ControlSocket::to("team0")));
    for (int round = 0; round < 3; ++round)
        for (const auto& client : clients)
            EXPECT_EQ("loadbalance", payload_of(client.ask("StateItemValueGet", {"setup.runner_name"})));
}

TEST(ControlSocket, sends_a_reply_of_a_megabyte) {
    const std::string note(1'000'000, 'n');
    const Running running(team_config(by_flow, ports_object(2), fmt::format(R"("note": "{}", )", note)));
    const auto reply = payload_of(ControlSocket::to("team0")->ask("ConfigDump"));
    ASSERT_TRUE(reply);
    EXPECT_NE(std::string::npos, reply->find(note));
    const auto shown = running.team.teamdctl({"config", "dump"});
    EXPECT_EQ(0, shown.status) << shown.err;
    EXPECT_NE(std::string::npos, shown.out.find(note));
}

TEST(ControlSocket, keeps_options_of_a_port_with_dots_in_its_name) {
    const Cabling wires(1, FarSide::open);
    wires.host().ip("link set eth1 name eth1.100");
    const TeamUnderTest team(team_config(activebackup, R"({"eth1.100": {"prio": 5}})"));
    EXPECT_TRUE(team.await_item(R"(ports."eth1.100".link.up)", "true"));
    EXPECT_THAT(team.teamdctl({"config", "dump"}).out, Not(HasSubstr("\"100\"")));
    EXPECT_THAT(team.teamdctl({"port", "config", "dump", "eth1.100"}).out, HasSubstr("\"prio\": 5"));
    EXPECT_TRUE(team.await_item("runner.active_port", "eth1.100"));
}

} // namespace
} // namespace teamo::test
