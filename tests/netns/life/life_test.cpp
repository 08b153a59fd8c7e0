// SPDX-License-Identifier: LGPL-2.1-or-later
//
// teamd's options, and the daemon from its start to its end.
//
// lab: Daemon.* by none: options and signals are the same with every datapath
#include "netns/configs.h"
#include "support/daemon/service_manager.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>

#include <fstream>

namespace teamo::test {
namespace {

using testing::HasSubstr, testing::Not;

bool file_exists(const std::string& path) { return std::ifstream(path).good(); }
bool socket_exists(std::string_view team) { return ControlSocket::to(team).has_value(); }

std::string pid_in(const std::string& path) {
    std::string text;
    std::ifstream(path) >> text;
    return text;
}

TEST(Daemon, goes_to_the_background_and_ends_by_option_k) {
    const Cabling wires(2, FarSide::open);
    const ConfigFile config(loadbalance(2));
    const auto started = daemon({"-d", "-f", config.path()});
    ASSERT_EQ(0, started.status) << started.err;
    EXPECT_TRUE(socket_exists("team0")) << "the socket answers when the first process ends";
    EXPECT_TRUE(exists(wires.host(), "team0"));
    EXPECT_TRUE(file_exists("/run/teamd/team0.pid"));
    EXPECT_EQ(0, daemon({"-e", "-t", "team0"}).status);
    EXPECT_EQ(0, daemon({"-e", "-f", config.path()}).status);
    const ConfigFile wrong(R"({"device": "team0", "runner": {"name": "lcap"}})"); // since the start
    EXPECT_EQ(0, daemon({"-e", "-f", wrong.path()}).status);
    EXPECT_EQ(1, daemon({"-k", "-t", "../team0"}).status);
    const auto killed = daemon({"-k", "-t", "team1", "-t", "team0", "-f", wrong.path()});
    EXPECT_EQ(0, killed.status) << killed.err;
    EXPECT_FALSE(exists(wires.host(), "team0"));
    EXPECT_FALSE(file_exists("/run/teamd/team0.pid"));
    EXPECT_EQ(1, daemon({"-e", "-t", "team0"}).status);
    EXPECT_EQ(1, daemon({"-k", "-t", "team0"}).status);
}

/// Metrics that grow old raise the alert of packaging/prometheus.
TEST(Daemon, leaves_its_metrics_when_it_fails_and_removes_them_when_it_is_stopped) {
    const Cabling wires(1, FarSide::open);
    const std::string metrics = "/run/test/team0.prom";
    TeamUnderTest team(loadbalance(1), {"--metrics-file", metrics});
    EXPECT_TRUE(file_exists(metrics));
    wires.host().ip("link del team0");
    EXPECT_TRUE(eventually("the daemon ends", [&] { return !team.running(); }));
    EXPECT_EQ(2, team.stop());
    EXPECT_TRUE(file_exists(metrics));
    team.start({"--metrics-file", metrics});
    EXPECT_EQ(0, team.stop());
    EXPECT_FALSE(file_exists(metrics));
}

TEST(Daemon, reports_a_failed_background_start_by_exit_status) {
    const Cabling wires(1, FarSide::open);
    const ConfigFile config(R"({"device": "team0", "runner": {"name": "nonsense"}})");
    const auto started = daemon({"-d", "-f", config.path()});
    EXPECT_EQ(1, started.status);
    EXPECT_NE("", started.err);
    EXPECT_FALSE(exists(wires.host(), "team0"));
}

TEST(Daemon, needs_a_name_for_check_and_kill) {
    EXPECT_EQ(1, daemon({"-e"}).status);
    EXPECT_EQ(1, daemon({"-k"}).status);
    EXPECT_EQ(1, daemon({"-f", "/run/no.conf"}).status);
    EXPECT_EQ(1, daemon({"--no-such-option"}).status);
    EXPECT_EQ(0, daemon({"-h"}).status);
    EXPECT_EQ(0, daemon({"-v"}).status);
}

TEST(Daemon, writes_the_pid_file) {
    const Cabling wires(1, FarSide::open);
    TeamUnderTest team(loadbalance(1), {"-p", "/run/elsewhere.pid"});
    EXPECT_EQ(std::to_string(team.pid()), pid_in("/run/elsewhere.pid"));
    EXPECT_EQ("/run/elsewhere.pid", team.item("setup.pid_file"));
    EXPECT_EQ(std::to_string(team.pid()), team.item("setup.pid"));
    EXPECT_EQ(0, team.stop());
    EXPECT_FALSE(file_exists("/run/elsewhere.pid"));
    EXPECT_FALSE(socket_exists("team0"));
}

TEST(Daemon, reads_configuration_and_name_from_the_command_line) {
    const Cabling wires(1, FarSide::open);
    auto running = Process::start({.argv = daemon_command({"-t", "team7", "-c", loadbalance(1)})});
    ASSERT_TRUE(eventually("team7 answers", [] { return socket_exists("team7"); })) << running.err();
    EXPECT_TRUE(exists(wires.host(), "team7"));
    const auto dump = ControlSocket::to("team7")->ask("ConfigDump");
    EXPECT_THAT(payload_of(dump).value_or(""), HasSubstr(R"("device": "team7")"))
        << "the name is written back";
    running.signal(SIGTERM);
    EXPECT_EQ(0, running.wait(long_enough));
}

TEST(Daemon, takes_the_first_free_name) {
    const Cabling wires(1, FarSide::open);
    wires.host().ip("link add dev team0 type bridge");
    auto running = Process::start(
        {.argv = daemon_command({"-c", R"({"ports": {"eth1": {}}, "runner": {"name": "loadbalance"}})"})});
    EXPECT_TRUE(eventually("team1 answers", [] { return socket_exists("team1"); })) << running.err();
    running.signal(SIGTERM);
    EXPECT_EQ(0, running.wait(long_enough));
    EXPECT_TRUE(exists(wires.host(), "team0"));
}

TEST(Daemon, takes_no_ports_with_option_n) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(2), {"-n"});
    EXPECT_EQ("", team.item("ports.eth1.link.up"));
    ASSERT_EQ(0, team.teamdctl({"port", "add", "eth1"}).status);
    EXPECT_TRUE(team.await_item("ports.eth1.link.up", "true"));
    // Nor one that was a port before.
    wires.host().ip("link del eth1");
    EXPECT_TRUE(team.await_item("ports.eth1.link.up", ""));
    wires.add_cable(1);
    ASSERT_EQ(0, team.teamdctl({"port", "add", "eth2"}).status);
    EXPECT_TRUE(team.await_item("ports.eth2.link.up", "true"));
    EXPECT_EQ("", team.item("ports.eth1.link.up"));
}

TEST(Daemon, goes_on_when_nobody_reads_its_messages) {
    const Cabling wires(1, FarSide::open);
    const ConfigFile config(loadbalance(1));
    std::vector<std::string> command{"bash", "-c", "exec \"$@\" 2> >(exec true)", "bash"};
    std::ranges::copy(daemon_command({"-f", config.path()}), std::back_inserter(command));
    auto running = Process::start({.argv = command});
    ASSERT_TRUE(eventually("team0 answers", [] { return socket_exists("team0"); }));
    wires.pull(1);
    wires.plug(1);
    EXPECT_TRUE(eventually("the port carries", [] {
        return run({.argv = {teamoctl_program(), "team0", "state", "item", "get", "ports.eth1.link.up"}})
                   .out == "true\n";
    }));
    running.signal(SIGTERM);
    EXPECT_EQ(0, running.wait(long_enough));
}

TEST(Daemon, shows_a_long_plan_to_nobody) {
    const Cabling wires(8, FarSide::open);
    const ConfigFile config(loadbalance(8));
    std::vector<std::string> command{"bash", "-c", "exec \"$@\" > /dev/full", "bash"};
    std::ranges::copy(daemon_command({"--dry-run", "-f", config.path()}), std::back_inserter(command));
    const auto shown = run({.argv = command});
    EXPECT_EQ(0, shown.status) << shown.err;
}

TEST(Daemon, has_no_socket_with_option_u) {
    const Cabling wires(1, FarSide::open);
    const ConfigFile config(loadbalance(1));
    auto running = Process::start({.argv = daemon_command({"-u", "-f", config.path()})});
    EXPECT_TRUE(eventually("team0", [&] { return exists(wires.host(), "team0"); }));
    EXPECT_TRUE(eventually("pid file", [] { return file_exists("/run/teamd/team0.pid"); }));
    EXPECT_FALSE(file_exists("/run/teamd/team0.sock"));
    running.signal(SIGTERM);
    EXPECT_EQ(0, running.wait(long_enough));
}

TEST(Daemon, refuses_a_second_start_for_a_team) {
    const Cabling wires(2, FarSide::lag_switch);
    TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    for (const auto& option : {std::vector<std::string>{}, {"-o"}, {"-r"}, {"-d"}}) {
        const auto second = daemon_on(loadbalance(2), option);
        EXPECT_EQ(1, second.status);
        EXPECT_THAT(second.err, HasSubstr(std::to_string(team.pid()))) << "the pid of the running daemon";
    }
    EXPECT_TRUE(team.answers());
    EXPECT_TRUE(reaches(wires.host(), client_v4));
}

TEST(Daemon, refuses_a_foreign_device) {
    const Cabling wires(1, FarSide::open);
    wires.host().ip("link add dev team0 type bridge");
    const auto before = snapshot(wires.host(), "team0") + snapshot(wires.host(), "eth1");
    const auto refused = daemon_on(loadbalance(1));
    EXPECT_EQ(1, refused.status);
    EXPECT_NE("", refused.err);
    EXPECT_EQ("", difference(before, snapshot(wires.host(), "team0") + snapshot(wires.host(), "eth1")));
}

TEST(Daemon, replaces_a_foreign_device_when_forced) {
    const Cabling wires(1, FarSide::open);
    wires.host().ip("link add dev team0 type bridge");
    const TeamUnderTest team(loadbalance(1), {"-r"});
    EXPECT_NE("bridge", look(wires.host(), "team0").kind);
    EXPECT_EQ("loadbalance", team.item("setup.runner_name"));
}

TEST(Daemon, creates_a_missing_device_with_take_over) {
    const Cabling wires(1, FarSide::open);
    TeamUnderTest team(loadbalance(1), {"-o"});
    EXPECT_TRUE(exists(wires.host(), "team0"));
    EXPECT_EQ(0, team.stop());
    EXPECT_FALSE(exists(wires.host(), "team0"));
}

TEST(Daemon, logs_to_the_chosen_output) {
    const Cabling wires(1, FarSide::open);
    const auto refused =
        daemon_on(R"({"device": "team0", "runner": {"name": "nonsense"}})", {"-l", "stdout"});
    EXPECT_NE("", refused.out);
    EXPECT_EQ("", refused.err);
}

TEST(Daemon, traces_events_decisions_and_changes_with_option_g) {
    const Cabling wires(2, FarSide::lag_switch);
    TeamUnderTest team(ranked_activebackup(2));
    bring_up(wires, team);
    EXPECT_THAT(team.log(), Not(HasSubstr("event: ")));
    team.set_item("setup.debug_level", "1");
    wires.host().ip("link set team0 mtu 1400");
    wires.pull(1);
    EXPECT_TRUE(team.await_item("runner.active_port", "eth2"));
    for (const auto* line : {"event: eth1 (", "decided: eth1: link down, prio 90", "decided: eth2: link up"})
        EXPECT_THAT(team.log(), HasSubstr(line));
    const bool by_kernel = by_driver(wires) || by_bonding(wires); // sets the MTU itself
    EXPECT_THAT(team.log(), HasSubstr(by_kernel ? "event: eth2 (" : "set eth2: MTU 1400"));
}

TEST(Daemon, ignores_sighup) {
    const Cabling wires(1, FarSide::open);
    TeamUnderTest team(loadbalance(1));
    team.signal(SIGHUP);
    EXPECT_TRUE(team.answers());
    EXPECT_TRUE(team.running());
}

TEST(Daemon, notifies_systemd) {
    const Cabling wires(2, FarSide::open);
    ServiceManager manager;
    const ConfigFile config(loadbalance(2));
    auto running = Process::start(
        {.argv = daemon_command({"-f", config.path()}),
         .environment = {fmt::format("NOTIFY_SOCKET={}", ServiceManager::path), "WATCHDOG_USEC=200000"}});
    EXPECT_TRUE(manager.received("READY=1"));
    EXPECT_TRUE(socket_exists("team0")) << "the socket answers when the daemon is ready";
    EXPECT_TRUE(manager.received("STATUS="));
    for (int times = 0; times < 2; ++times) {
        manager.forget();
        EXPECT_TRUE(manager.received("WATCHDOG=1"));
    }
    running.signal(SIGTERM);
    EXPECT_TRUE(manager.received("STOPPING=1"));
    EXPECT_EQ(0, running.wait(long_enough));
}

TEST(Daemon, adds_a_port_that_appears_later) {
    const Cabling wires(1, FarSide::lag_switch);
    TeamUnderTest team(loadbalance(2));
    EXPECT_THAT(team.log(), HasSubstr("eth2")) << "a warning names the missing port";
    EXPECT_EQ("", team.item("ports.eth2.link.up"));
    wires.add_cable(2);
    EXPECT_TRUE(team.await_link("eth2"));
    bring_up(wires, team);
    wires.pull(1);
    EXPECT_TRUE(reaches(wires.host(), client_v4)) << "the port carries";
}

TEST(Daemon, adds_a_port_that_returns) {
    const Cabling wires(2, FarSide::open);
    TeamUnderTest team(loadbalance(2));
    EXPECT_TRUE(team.await_link("eth2"));
    wires.host().ip("link del eth2");
    EXPECT_TRUE(team.await_item("ports.eth2.link_watches.up", ""));
    EXPECT_TRUE(team.link_is_up("eth1"));
    wires.add_cable(2);
    EXPECT_TRUE(team.await_link("eth2"));
}

TEST(Daemon, sets_the_configured_hardware_address) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(team_config(by_flow, ports_object(2), R"("hwaddr": "02:AA:bb:00:00:01", )"));
    EXPECT_EQ("02:aa:bb:00:00:01", look(wires.host(), "team0").address);
    EXPECT_TRUE(becomes("02:aa:bb:00:00:01", [&] { return look(wires.host(), "eth2").address; }));
}

} // namespace
} // namespace teamo::test
