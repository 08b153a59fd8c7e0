// SPDX-License-Identifier: LGPL-2.1-or-later
//
// One process for all teams of a folder (--all).
//
// lab: Fleet.* by none: the datapath of each team does not depend on its process
#include "kernel/files/files.h"
#include "netns/configs.h"
#include "support/daemon/service_manager.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>

namespace teamo::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::EndsWith;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

class Fleet : public testing::Test {
protected:
    Fleet() { std::filesystem::create_directories(folder_); }
    ~Fleet() override {
        if (HasFailure() && process_) fmt::print("---- the daemon's log\n{}----\n", process_->err());
    }

    void put(const std::string& team, std::string_view config) const { std::ofstream(path(team)) << config; }
    void take(const std::string& team) const { std::filesystem::remove(path(team)); }
    void start(const std::vector<std::string>& environment = {}) {
        process_.emplace(Process::start(
            {.argv = daemon_command({"--all", "--config-directory", folder_}), .environment = environment}));
    }
    void reload() const { process_->signal(SIGHUP); }
    void kill() {
        process_->signal(SIGKILL);
        process_->wait(long_enough);
    }
    std::optional<int> stop() {
        process_->signal(SIGTERM);
        return process_->wait(long_enough);
    }
    std::string log() const { return process_->err(); }
    testing::AssertionResult logs(const std::string& text) const {
        return eventually("the log says: " + text, [&] { return log().find(text) != std::string::npos; });
    }
    static std::string item(const std::string& team, const std::string& path) {
        return run({.argv = {teamoctl_program(), team, "state", "item", "get", path}}).out;
    }
    static testing::AssertionResult carries(const std::string& team, const std::string& port) {
        return becomes(std::string("true\n"),
                       [&] { return item(team, fmt::format("ports.{}.datapath.transmits", port)); });
    }
    static testing::AssertionResult is_gone(const Cabling& wires, const std::string& team) {
        return eventually(team + " is gone", [&] { return !exists(wires.host(), team); });
    }

private:
    std::string path(const std::string& team) const { return fmt::format("{}/{}.conf", folder_, team); }

    const std::string folder_ = "/run/test/all";
    std::optional<Process> process_;
};

std::string with_port(const std::string& port) {
    return team_config(by_flow, fmt::format(R"({{"{}": {{}}}})", port));
}

TEST_F(Fleet, follows_its_folder) {
    const Cabling wires(4, FarSide::open);
    const auto before = snapshot(wires.host(), "eth3");
    put("team0", loadbalance(2));
    put("team1", with_port("eth3"));
    put("team2", "not JSON");
    start();
    EXPECT_TRUE(carries("team0", "eth1"));
    EXPECT_TRUE(carries("team0", "eth2"));
    EXPECT_TRUE(carries("team1", "eth3"));
    EXPECT_TRUE(logs("team2: "));
    const auto metrics = [] { return run({.argv = {teamoctl_program(), "metrics"}}).out; };
    EXPECT_TRUE(eventually("the refused team is told", [&] {
        return metrics().find("team_refused{team=\"team2\"} 1") != std::string::npos;
    }));
    EXPECT_THAT(run({.argv = {teamoctl_program(), "doctor"}}).out,
                AllOf(HasSubstr("error: team2: does not run: /run/test/all/team2.conf:1:"),
                      HasSubstr("correct /run/test/all/team2.conf")));
    EXPECT_THAT(daemon({"-k", "-t", "team0"}).err, HasSubstr("runs all teams"));
    EXPECT_EQ(0, daemon({"-e", "-t", "team0"}).status);
    put("team0", team_config(by_mac, ports_object(2)));
    take("team1");
    put("team2", with_port("eth4"));
    put("attach", R"({"attach": "*"})");
    reload();
    EXPECT_TRUE(carries("team2", "eth4"));
    EXPECT_TRUE(is_gone(wires, "team1"));
    EXPECT_EQ("", difference(before, snapshot(wires.host(), "eth3")));
    EXPECT_TRUE(carries("team0", "eth1"));
    EXPECT_THAT(log(), HasSubstr("team0: configuration: /runner/tx_hash"));
    EXPECT_TRUE(eventually("no team is refused any more",
                           [&] { return metrics().find("team_refused") == std::string::npos; }));
    put("attach", "{");
    reload();
    EXPECT_TRUE(logs("nothing is changed: /run/test/all/attach.conf:1:")) << "bonds go on";
    EXPECT_EQ(1, run({.argv = daemon_command({"--all", "--config-directory", "/nowhere"})}).status);
    EXPECT_EQ(0, stop());
    EXPECT_FALSE(exists(wires.host(), "team0"));
    EXPECT_FALSE(exists(wires.host(), "team2"));
}

/// For root, and for a member of the daemon's group, who may not open its lock.
TEST_F(Fleet, that_was_killed_refuses_no_team) {
    put("team0", "not JSON");
    const std::vector<std::string> member{"setpriv", "--reuid=65534", "--regid=0", "--clear-groups"};
    const auto before = ::umask(077); // as the units have it
    for (const auto& as : {std::vector<std::string>(), member}) {
        const auto is_refused = [&as] {
            auto words = as;
            words.insert(words.end(), {teamoctl_program(), "metrics"});
            return run({.argv = words}).out.find("team_refused") != std::string::npos;
        };
        start();
        EXPECT_TRUE(eventually("the team is refused", is_refused));
        kill();
        EXPECT_TRUE(std::filesystem::exists("/run/teamd/.all.refused"));
        EXPECT_FALSE(is_refused());
    }
    ::umask(before);
}

/// A device that vanishes, a file that breaks, a team that comes, kill -9 and a new start: the first team
/// loses nothing.
TEST_F(Fleet, leaves_the_others_alone_when_a_team_fails) {
    const Cabling wires(4, FarSide::learning_switch);
    put("team0", ranked_activebackup(2));
    put("team1", with_port("eth3"));
    start();
    EXPECT_TRUE(carries("team0", "eth1"));
    EXPECT_TRUE(carries("team1", "eth3"));
    wires.address();
    ASSERT_TRUE(reaches(wires.host(), client_v4));
    const Stream stream({.from = &wires.host(), .to = &wires.client(), .address = client_v4, .rate = 2'000});
    ASSERT_TRUE(stream.flows(1'000));
    const auto first = stream.next();
    for (int times = 0; times < 3; ++times) {
        const auto former = look(wires.host(), "team1").index;
        wires.host().ip("link del team1");
        EXPECT_TRUE(eventually("team1 is made again", [&] {
            return exists(wires.host(), "team1") && look(wires.host(), "team1").index != former;
        }));
        EXPECT_TRUE(carries("team1", "eth3"));
    }
    put("team1", "{");
    put("team2", with_port("eth4"));
    reload();
    EXPECT_TRUE(carries("team2", "eth4"));
    EXPECT_TRUE(carries("team1", "eth3")) << "with the former configuration";
    const auto index = look(wires.host(), "team0").index;
    put("team1", with_port("eth3"));
    kill();
    start();
    EXPECT_TRUE(carries("team0", "eth1"));
    EXPECT_TRUE(carries("team2", "eth4"));
    EXPECT_EQ(index, look(wires.host(), "team0").index);
    ASSERT_TRUE(stream.flows(800));
    const auto end = stream.next();
    ASSERT_TRUE(stream.flows(200));
    EXPECT_EQ(0U, stream.tally(first, end).lost);
    EXPECT_EQ(0, stop());
}

/// One port without a link, and a socket that nobody listens at: they hide nothing of the others.
TEST_F(Fleet, is_seen_by_one_doctor_and_one_top) {
    constexpr unsigned teams = 4;
    const Cabling wires(2 * teams, FarSide::open);
    const auto name_of = [](unsigned team) { return fmt::format("team{}", team); };
    for (unsigned team = 0; team < teams; ++team) {
        const std::vector ports{Cabling::port(2 * team + 1), Cabling::port(2 * team + 2)};
        put(name_of(team), team_config(by_flow, ports_object(ports, "{}")));
    }
    start();
    for (unsigned team = 0; team < teams; ++team) {
        ASSERT_TRUE(carries(name_of(team), Cabling::port(2 * team + 2)));
        wires.host().ip(fmt::format("link set {} up", name_of(team)));
    }
    EXPECT_EQ(0, run({.argv = {teamoctl_program(), "doctor"}}).status);
    wires.pull(2);
    EXPECT_TRUE(becomes(std::string("false\n"), [] { return item("team0", "ports.eth2.link.up"); }));
    const auto begin = std::chrono::steady_clock::now();
    // Fewer descriptors than four teams need.
    auto said = run({.argv = {"/bin/sh", "-c", "ulimit -Sn 12; exec \"$0\" doctor", teamoctl_program()}});
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 4s) << "a second for each team";
    EXPECT_EQ(1, said.status);
    EXPECT_THAT(said.out, HasSubstr("warning: team0: eth2: has no link"));
    EXPECT_THAT(said.out, EndsWith("nothing is wrong with 3 teams\n"));

    std::ofstream("/run/teamd/team9.sock") << "";
    said = run({.argv = {teamoctl_program(), "doctor"}});
    EXPECT_EQ(1, said.status);
    EXPECT_THAT(said.out, StartsWith("error: team9: Device"));
    EXPECT_THAT(said.out, HasSubstr("warning: team0: eth2: has no link"));
    said = run({.argv = {teamoctl_program(), "-o", "--json", "doctor"}});
    EXPECT_THAT(said.out,
                MatchesRegex("\\[.*\"team\": \"team0\".*\"team\": \"team3\".*\"team\": \"team9\"}\\]\n"));
    EXPECT_EQ(1, said.status);
    said = run({.argv = {teamoctl_program(), "top", "--once"}});
    EXPECT_EQ(0, said.status) << said.err;
    EXPECT_THAT(said.out, ContainsRegex("team0 +loadbalance +[a-z]+ +1/2 "));
    EXPECT_THAT(said.out, ContainsRegex("team9 .* does not answer"));
    EXPECT_EQ(0, stop());
    std::filesystem::remove("/run/teamd/team9.sock");
    said = run({.argv = {teamoctl_program(), "doctor"}});
    EXPECT_EQ(1, said.status);
    EXPECT_THAT(said.err, HasSubstr("no team runs"));
}

/// A start and a stop of a daemon of its own move the team from the one to the other.
TEST_F(Fleet, hands_a_team_over_and_takes_it_back) {
    const Cabling wires(3, FarSide::lag_switch);
    put("team0", loadbalance(2));
    put("team1", with_port("eth3"));
    start();
    EXPECT_TRUE(carries("team0", "eth2"));
    wires.address();
    ASSERT_TRUE(reaches(wires.host(), client_v4));
    const Stream stream({.from = &wires.host(), .to = &wires.client(), .address = client_v4, .rate = 2'000});
    ASSERT_TRUE(stream.flows(1'000));
    const auto first = stream.next();
    const auto index = look(wires.host(), "team0").index;
    for (int times = 0; times < 2; ++times) {
        TeamUnderTest alone(loadbalance(2));
        EXPECT_TRUE(eventually("the team is taken over", [&] {
            return alone.log().find("team0: adopted the running team") != std::string::npos;
        }));
        EXPECT_TRUE(alone.await_link("eth2"));
        EXPECT_TRUE(carries("team1", "eth3"));
        EXPECT_EQ(0, alone.stop());
        EXPECT_TRUE(carries("team0", "eth2"));
        EXPECT_EQ(0, daemon({"-e", "-t", "team0"}).status);
    }
    EXPECT_EQ(index, look(wires.host(), "team0").index);
    ASSERT_TRUE(stream.flows(800));
    const auto end = stream.next();
    ASSERT_TRUE(stream.flows(200));
    EXPECT_EQ(0U, stream.tally(first, end).lost);
    // With a file that is refused it takes nothing back, and promises nothing.
    TeamUnderTest alone(loadbalance(2));
    const auto is_promised = [] { return LockFile::is_held("/run/teamd/team0.next").value_or(false); };
    EXPECT_TRUE(eventually("it will take the team", is_promised));
    const auto elsewhere = "team0: Daemon already running on PID " + std::to_string(alone.pid());
    EXPECT_TRUE(logs(elsewhere));
    put("team0", "{");
    EXPECT_TRUE(logs(elsewhere + ". After its end no daemon runs the team: /run/test/all/team0.conf:1:"));
    EXPECT_FALSE(is_promised());
    EXPECT_EQ(0, alone.stop());
    EXPECT_FALSE(exists(wires.host(), "team0"));
    EXPECT_EQ(0, stop());
}

/// The process for all teams has its lock before its PID file and its socket.
TEST_F(Fleet, is_awaited_by_a_start_that_meets_its_own) {
    const Cabling wires(1, FarSide::open);
    put("team1", "{");
    start();
    ASSERT_TRUE(logs("team1: "));
    auto lock = LockFile::try_take("/run/teamd/team0.pid.lock");
    ASSERT_TRUE(lock && *lock);
    const std::string path = "/run/teamd/team0.sock";
    const UniqueFd listener(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    path.copy(address.sun_path, path.size());
    ASSERT_EQ(0, ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address));
    ASSERT_EQ(0, ::listen(listener.get(), 1));
    const std::jthread holder([held = std::move(**lock), &listener, &path]() mutable {
        // After its wait for a daemon that was killed the start asks for the team.
        pollfd asked{.fd = listener.get(), .events = POLLIN, .revents = 0};
        EXPECT_EQ(1, ::poll(&asked, 1, static_cast<int>(long_enough.count())));
        std::filesystem::remove(path);
        const auto given_up = std::move(held);
    });
    TeamUnderTest alone(loadbalance(1));
    EXPECT_TRUE(alone.await_link("eth1"));
    EXPECT_EQ(0, alone.stop());
    EXPECT_EQ(0, stop());
}

TEST_F(Fleet, waits_for_a_bond_until_its_file_says_otherwise) {
    const Cabling wires(1, FarSide::open);
    put("team0", R"({"attach": true})");
    put("bond1", R"({"attach": true})");
    start();
    EXPECT_TRUE(logs("bond1: waits for bond bond1"));
    EXPECT_TRUE(logs("team0: waits for bond team0"));
    wires.host().ip("link add bond1 type veth peer name other1");
    EXPECT_TRUE(logs("bond1: device bond1 is not a bond"));
    put("team0", "{");
    reload();
    EXPECT_TRUE(logs("team0: nothing is changed: /run/test/all/team0.conf:1:"));
    const auto config = [](const std::string& command) {
        return run({.argv = {teamoctl_program(), "team0", "config", command}});
    };
    EXPECT_THAT(config("reload").err, HasSubstr("Nothing is changed: /run/test/all/team0.conf:1:"));
    put("team0", loadbalance(1));
    EXPECT_THAT(config("diff").out, HasSubstr("/attach"));
    EXPECT_THAT(config("dump").out, HasSubstr(R"("attach": true)"));
    EXPECT_THAT(run({.argv = {teamoctl_program(), "team0", "state"}}).err, HasSubstr("waits for a bond"));
    EXPECT_EQ(0, config("reload").status);
    EXPECT_TRUE(carries("team0", "eth1"));
    EXPECT_EQ(0, daemon({"-e", "-t", "bond1"}).status) << "it still waits";
    EXPECT_EQ(0, stop());
}

TEST_F(Fleet, of_a_unit_waits_for_want_of_a_file) {
    const Cabling wires(1, FarSide::open);
    put("team1", "{}"); // so that there is a folder
    const std::string file = "/run/test/all/team0.conf";
    auto one = Process::start({.argv = daemon_command({"--or-attach", "-t", "team0", "-f", file})});
    const auto says = [](const char* text, std::vector<std::string> words) {
        words.insert(words.begin(), {teamoctl_program(), "team0"});
        return eventually(text, [&] {
            const auto said = run({.argv = words});
            return (said.out + said.err).find(text) != std::string::npos;
        });
    };
    EXPECT_TRUE(eventually("it waits", [] { return std::filesystem::exists("/run/teamd/team0.sock"); }));
    for (const auto* hash : {"udp", "sctp"}) {
        put("team0", team_config(fmt::format(R"({{"name": "loadbalance", "tx_hash": ["{}"]}})", hash),
                                 ports_object(1)));
        one.signal(SIGHUP);
        EXPECT_TRUE(says(hash, {"config", "dump", "actual"})) << one.err();
    }
    one.signal(SIGTERM);
    EXPECT_EQ(0, one.wait(long_enough)) << one.err();
}

TEST_F(Fleet, waits_for_a_team_that_another_daemon_has) {
    const Cabling wires(2, FarSide::open);
    TeamUnderTest team(loadbalance(1));
    ASSERT_TRUE(team.await_link("eth1"));
    const auto index = look(wires.host(), "team0").index;
    ServiceManager manager;
    put("team0", loadbalance(1));
    put("team1", with_port("eth2"));
    start(manager.environment());
    EXPECT_TRUE(carries("team1", "eth2"));
    EXPECT_TRUE(logs("team0: Daemon already running"));
    ASSERT_TRUE(manager.received("READY=1"));
    // No socket is kept for a team that may start here some day.
    EXPECT_EQ(0, run({.argv = {teamoctl_program(), "team1", "port", "remove", "eth2"}}).status);
    EXPECT_TRUE(
        manager.received(fmt::format("FDSTOREREMOVE=1\nFDNAME=lldp-{}", look(wires.host(), "eth2").index)));
    EXPECT_TRUE(team.answers());
    team.kill();
    EXPECT_TRUE(eventually("the team is taken over", [&] {
        return log().find("team0: adopted the running team") != std::string::npos;
    }));
    EXPECT_EQ(index, look(wires.host(), "team0").index);
    EXPECT_TRUE(carries("team0", "eth1"));
    EXPECT_EQ(0, stop());
}

} // namespace
} // namespace teamo::test
