// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The D-Bus interface (-D), on a message bus of the test with the policy file that we install.
//
// lab: Dbus.* by none: does not depend on the datapath
#include "netns/configs.h"
#include "support/daemon/nobody.h"
#include "support/snapshot.h"

#include <gmock/gmock.h>

#include <csignal>
#include <cstdlib>
#include <fstream>

namespace teamo::test {
namespace {

using testing::HasSubstr;

constexpr const char* bus_socket = "/run/test-bus";

class Dbus : public testing::Test {
protected:
    Dbus() {
        std::ofstream("/run/test-bus.conf") << fmt::format(
            R"(<busconfig><type>system</type><listen>unix:path={}</listen><auth>EXTERNAL</auth>
               <policy context="default"><allow user="*"/><deny own="*"/><deny send_type="method_call"/>
               <allow send_type="signal"/><allow send_type="method_return"/><allow send_type="error"/>
               <allow receive_type="*"/><allow send_destination="org.freedesktop.DBus"/></policy>
               <include>{}/packaging/dbus/teamd-offload.conf</include></busconfig>)",
            bus_socket, TEAMO_SOURCE_DIR);
        ::setenv("DBUS_SYSTEM_BUS_ADDRESS", fmt::format("unix:path={}", bus_socket).c_str(), 1);
        start_bus();
    }
    ~Dbus() override { ::unsetenv("DBUS_SYSTEM_BUS_ADDRESS"); }

    void start_bus() {
        std::remove(bus_socket);
        bus_.emplace(Process::start(
            {.argv = {"dbus-daemon", "--nofork", "--nopidfile", "--config-file=/run/test-bus.conf"}}));
        EXPECT_TRUE(eventually("the bus listens", [] { return ::access(bus_socket, W_OK) == 0; }));
    }
    void start_team(const std::string& config) {
        team_.emplace(config, std::vector<std::string>{"-D"});
        for (const auto* port : {"eth1", "eth2"})
            EXPECT_TRUE(team_->await_link(port));
    }
    std::string property(const std::string& name) const {
        return must(wires_.host(), "busctl get-property org.libteam.teamd.team0 /org/libteam/teamd "
                                   "org.teamd_offload.Team1 " +
                                       name);
    }
    Output call(const std::string& method) const {
        return sh(wires_.host(), "dbus-send --system --print-reply --dest=org.libteam.teamd.team0 "
                                 "/org/libteam/teamd org.libteam.teamd." +
                                     method);
    }

    const Cabling wires_{2, FarSide::lag_switch};
    std::optional<Process> bus_;
    std::optional<TeamUnderTest> team_;
};

TEST_F(Dbus, serves_teamdctl) {
    start_team(ranked_activebackup(2));
    for (const auto& words : std::vector<std::vector<std::string>>{{"state"},
                                                                   {"config", "dump"},
                                                                   {"config", "dump", "actual"},
                                                                   {"port", "config", "dump", "eth1"}}) {
        const auto by_bus = team_->teamdctl(words, {"-D"});
        EXPECT_EQ(0, by_bus.status) << by_bus.err;
        EXPECT_EQ(team_->teamdctl(words, {"-U"}).out, by_bus.out);
        EXPECT_EQ(by_bus.out, team_->teamoctl(words, {"-D"}).out);
    }
    EXPECT_EQ("true", team_->item("setup.dbus_enabled"));
    EXPECT_EQ(0, team_->teamdctl({"state", "item", "set", "runner.active_port", "eth2"}, {"-D"}).status);
    EXPECT_TRUE(team_->await_item("runner.active_port", "eth2"));
    EXPECT_EQ(0, team_->teamdctl({"port", "remove", "eth1"}, {"-D"}).status);
    EXPECT_EQ(1, team_->teamdctl({"port", "remove", "nosuch"}, {"-D"}).status);
    const auto refused = team_->teamoctl({"port", "remove", "nosuch"}, {"-D"});
    EXPECT_EQ("team0: port remove nosuch: No such device (NoSuchDev)\n", refused.err);
}

TEST_F(Dbus, has_the_interfaces_of_the_snapshot) {
    start_team(loadbalance(2));
    expect_as_in_snapshot("dbus",
                          must(wires_.host(), "busctl introspect --xml-interface "
                                              "org.libteam.teamd.team0 /org/libteam/teamd | "
                                              "sed -n '/<interface name=\"org.libteam/,/<.interface>/p; "
                                              "/<interface name=\"org.teamd_offload/,/<.interface>/p'"));
}

TEST_F(Dbus, names_errors_as_teamd) {
    start_team(loadbalance(2));
    EXPECT_THAT(call("PortRemove string:nosuch").err,
                HasSubstr("org.libteam.teamdNoSuchDev: No such device."));
    EXPECT_THAT(call("StateItemValueGet string:no.such").err,
                HasSubstr("org.libteam.teamdPathDoesNotExist: Item path does not exist."));
    EXPECT_THAT(call("StateItemValueGet string:").err, HasSubstr("org.libteam.teamdInvalidArgs"));
    EXPECT_THAT(call("NoSuchMethod").err, HasSubstr("UnknownMethod"));
}

TEST_F(Dbus, signals_lost_ports) {
    start_team(ranked_activebackup(2));
    EXPECT_EQ("s \"activebackup\"\n", property("Runner"));
    EXPECT_EQ("as 2 \"eth1\" \"eth2\"\n", property("Ports"));
    EXPECT_EQ("s \"eth1\"\n", property("ActivePort"));
    auto monitor = Process::start(
        {.argv = {"dbus-monitor", "--system", "interface='org.teamd_offload.Team1'"}, .in = &wires_.host()});
    EXPECT_TRUE(
        eventually("it listens", [&] { return monitor.out().find("NameAcquired") != std::string::npos; }));
    wires_.pull(1);
    EXPECT_TRUE(eventually("all signals have come", [&] {
        const auto out = monitor.out();
        return out.find("member=PortLost\n   string \"eth1\"") != std::string::npos &&
               out.find("member=PortCarries\n   string \"eth2\"") != std::string::npos &&
               out.find("member=ActivePortChanged\n   string \"eth2\"") != std::string::npos;
    })) << monitor.out();
    EXPECT_EQ("as 1 \"eth2\"\n", property("CarryingPorts"));
}

TEST_F(Dbus, knows_the_runner_of_a_team_that_waits_for_its_bond) {
    const ConfigFile config(R"({"device": "team0", "attach": true})");
    auto waiting = Process::start({.argv = daemon_command({"-D", "-f", config.path()})});
    ASSERT_TRUE(eventually("it answers", [&] { return call("ConfigDump").status == 0; })) << waiting.err();
    EXPECT_EQ("s \"loadbalance\"\n", property("Runner"));
    EXPECT_EQ("as 0\n", property("Ports"));
    waiting.signal(SIGTERM);
    EXPECT_EQ(0, waiting.wait(long_enough));
}

TEST_F(Dbus, refuses_unprivileged_users) {
    start_team(loadbalance(2));
    auto other = as_unprivileged_user(
        "dbus-send --system --print-reply --dest=org.libteam.teamd.team0 /org/libteam/teamd "
        "org.libteam.teamd.PortRemove string:eth1");
    EXPECT_EQ(1, other.wait(long_enough));
    EXPECT_THAT(other.err(), HasSubstr("org.freedesktop.DBus.Error.AccessDenied"));
    EXPECT_EQ("true", team_->item("ports.eth1.link.up"));
}

TEST_F(Dbus, connects_again_to_a_restarted_bus) {
    start_team(loadbalance(2));
    bus_->signal(SIGKILL);
    EXPECT_TRUE(bus_->wait(long_enough));
    start_bus();
    EXPECT_TRUE(eventually("the name is back", [&] { return call("ConfigDump").status == 0; }));
    EXPECT_TRUE(team_->answers());
}

TEST_F(Dbus, is_not_needed_for_a_start) {
    const auto is_back = [&] {
        return eventually("the name is there", [&] { return call("ConfigDump").status == 0; });
    };
    bus_->signal(SIGKILL);
    EXPECT_TRUE(bus_->wait(long_enough));
    start_team(loadbalance(2));
    EXPECT_THAT(team_->log(), HasSubstr("cannot connect to the system bus"));
    start_bus();
    EXPECT_TRUE(is_back());
    team_->kill();
    bus_->signal(SIGSTOP);
    team_->start({"-D"});
    EXPECT_THAT(team_->log(), HasSubstr("the system bus does not answer"));
    bus_->signal(SIGCONT);
    EXPECT_TRUE(is_back());
}

} // namespace
} // namespace teamo::test
