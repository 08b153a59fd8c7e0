// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Processes run where their packets arrive. Between veths packets arrive on the CPU that sends them, so a
// client that is bound to a CPU says where its server belongs.
//
// lab: FollowingWorkers.* by none: a process is bound the same by every datapath
#include "kernel/cpus/thread_affinity.h"
#include "netns/configs.h"
#include "support/daemon/control_socket.h"
#include "support/traffic/on_cpu.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace teamo::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

CpuList affinity(pid_t thread) { return read_thread_affinity(thread).value_or(CpuList{}); }

std::string with_workers(std::string_view rules) {
    return team_config(by_flow, ports_object(2),
                       rules.empty() ? std::string() : fmt::format(R"("workers": {}, )", rules));
}

class FollowingWorkers : public testing::Test {
protected:
    void SetUp() override {
        if (cpus_.size() < 2) GTEST_SKIP() << "one CPU";
    }

    Process server(int port, std::vector<std::string> before = {}) const {
        auto words = std::move(before);
        words.insert(words.end(), {"iperf3", "-s", "-p", std::to_string(port)});
        return Process::start({.argv = std::move(words), .in = &wires_.host()});
    }
    /// Sends to it from one CPU, without end.
    Process client(unsigned cpu, int port, std::vector<std::string> more = {}) const {
        std::vector<std::string> words{"taskset",
                                       "-c",
                                       std::to_string(cpu),
                                       "iperf3",
                                       "-c",
                                       std::string(team_v4),
                                       "-p",
                                       std::to_string(port),
                                       "-t",
                                       "600",
                                       "-b",
                                       "20M"};
        words.insert(words.end(), more.begin(), more.end());
        return Process::start({.argv = std::move(words), .in = &wires_.client()});
    }
    void listens(int port) const {
        ASSERT_TRUE(eventually("the server listens", [&] {
            return run({.argv = {"ss", "-Hltn", fmt::format("sport = {}", port)}, .in = &wires_.host()})
                       .out != "";
        }));
    }

    const std::vector<unsigned> cpus_ = usable_cpus();
    const Cabling wires_{2, FarSide::lag_switch};
};

constexpr auto soon = 20s; // three windows of a second, and a machine that is busy

TEST_F(FollowingWorkers, run_where_their_packets_arrive_and_as_before_once_the_team_stops) {
    TeamUnderTest team(with_workers(R"([{"command": "iperf3", "policy": "follow"}])"));
    bring_up(wires_, team);
    const auto worker = server(5201);
    listens(5201);
    {
        const auto traffic = client(cpus_[1], 5201);
        EXPECT_TRUE(becomes(
            std::vector{cpus_[1]}, [&] { return affinity(worker.pid()); }, soon));
        const auto shown = team.teamoctl({"workers"}).out;
        EXPECT_THAT(shown, HasSubstr("iperf3"));
        EXPECT_THAT(shown, HasSubstr(fmt::format("% of its traffic arrives on CPU {}", cpus_[1])));
    }
    {
        const auto traffic = client(cpus_[0], 5201);
        EXPECT_TRUE(becomes(
            std::vector{cpus_[0]}, [&] { return affinity(worker.pid()); }, soon));
    }
    team.stop();
    EXPECT_EQ(cpus_, affinity(worker.pid()));
}

/// The kernel keeps no counters of a UDP socket: its packets are sampled, at the root of the control groups.
TEST_F(FollowingWorkers, run_where_their_datagrams_arrive) {
    must(NetNs::current(), "mkdir -p /run/cgroup");
    must(NetNs::current(), "mount -t cgroup2 none /run/cgroup");
    const TeamUnderTest team(with_workers(R"([{"command": "iperf3"}])"));
    bring_up(wires_, team);
    const auto worker = server(5201);
    listens(5201);
    for (const auto cpu : {cpus_[1], cpus_[0]}) {
        // So few that their interrupts keep no CPU busy, beside which the worker would run.
        const auto traffic = client(cpu, 5201, {"-u", "-b", "10M"});
        EXPECT_TRUE(becomes(
            std::vector{cpu}, [&] { return affinity(worker.pid()); }, soon))
            << team.teamoctl({"workers"}).out;
    }
}

TEST_F(FollowingWorkers, of_a_killed_daemon_are_released_by_the_next) {
    TeamUnderTest team(with_workers(R"([{"command": "iperf3"}])"));
    bring_up(wires_, team);
    const auto worker = server(5201);
    listens(5201);
    {
        const auto traffic = client(cpus_[1], 5201);
        ASSERT_TRUE(becomes(
            std::vector{cpus_[1]}, [&] { return affinity(worker.pid()); }, soon));
    }
    team.kill();
    EXPECT_EQ(std::vector{cpus_[1]}, affinity(worker.pid()));
    team.start();
    EXPECT_EQ(cpus_, affinity(worker.pid()));
    EXPECT_THAT(team.log(), HasSubstr("released 1 processes that an earlier daemon had bound"));
}

TEST_F(FollowingWorkers, are_bound_and_released_by_hand) {
    TeamUnderTest team(with_workers(""));
    bring_up(wires_, team);
    const auto worker = server(5201);
    listens(5201);
    const auto traffic = client(cpus_[1], 5201);
    EXPECT_EQ(0, team.teamoctl({"workers", "bind", std::to_string(worker.pid())}).status);
    EXPECT_TRUE(becomes(
        std::vector{cpus_[1]}, [&] { return affinity(worker.pid()); }, soon));
    EXPECT_THAT(team.teamoctl({"workers"}).out, HasSubstr("by hand"));
    EXPECT_EQ(0, team.teamoctl({"workers", "release", std::to_string(worker.pid())}).status);
    EXPECT_EQ(cpus_, affinity(worker.pid()));
}

TEST_F(FollowingWorkers, are_started_as_such) {
    TeamUnderTest team(with_workers(""));
    bring_up(wires_, team);
    const auto worker = server(5201, {teamoctl_program(), "team0", "workers", "run", "--"});
    listens(5201);
    const auto traffic = client(cpus_[1], 5201);
    EXPECT_TRUE(becomes(
        std::vector{cpus_[1]}, [&] { return affinity(worker.pid()); }, soon));
}

TEST_F(FollowingWorkers, have_a_cpu_each_where_they_are_spread) {
    TeamUnderTest team(with_workers(R"([{"command": "iperf3", "policy": "spread"}])"));
    bring_up(wires_, team);
    const auto one = server(5201), other = server(5202);
    listens(5201);
    listens(5202);
    const auto to_one = client(cpus_[0], 5201), to_other = client(cpus_[0], 5202);
    EXPECT_TRUE(eventually(
        "a CPU each", [&] { return affinity(one.pid()).size() == 1 && affinity(other.pid()).size() == 1; },
        soon));
    EXPECT_NE(affinity(one.pid()), affinity(other.pid()));
    EXPECT_EQ(0, team.teamoctl({"workers", "restore"}).status);
    EXPECT_EQ(cpus_, affinity(one.pid()));
    EXPECT_EQ(cpus_, affinity(other.pid()));
}

/// BPF objects that the daemon holds.
std::size_t held_programs(pid_t pid) {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(fmt::format("/proc/{}/fd", pid))) {
        std::error_code gone;
        if (fs::read_symlink(entry, gone).native().find("bpf") != std::string::npos) ++count;
    }
    return count;
}

TEST_F(FollowingWorkers, are_not_looked_for_where_nobody_asks) {
    const TeamUnderTest team(with_workers(""));
    bring_up(wires_, team);
    const auto before = held_programs(team.pid());
    EXPECT_TRUE(stays(
        "nothing is read", [&] { return held_programs(team.pid()) == before; }, 1500ms));
    EXPECT_THAT(team.teamoctl({"workers"}).out, HasSubstr("no rule selects a process"));
    const auto worker = server(5201);
    ASSERT_EQ(0, team.teamoctl({"workers", "bind", std::to_string(worker.pid())}).status);
    EXPECT_TRUE(eventually("the reader is loaded", [&] { return held_programs(team.pid()) > before; }));
}

TEST_F(FollowingWorkers, are_bound_again_when_who_measures_without_them_dies) {
    const TeamUnderTest team(with_workers(R"([{"command": "iperf3"}])"));
    bring_up(wires_, team);
    const auto worker = server(5201);
    listens(5201);
    const auto traffic = client(cpus_[1], 5201);
    const auto is_bound = [&] { return affinity(worker.pid()) == std::vector{cpus_[1]}; };
    ASSERT_TRUE(eventually("it is bound", is_bound, soon));
    {
        const auto prove = Process::start({.argv = {teamoctl_program(), "team0", "interrupts", "benchmark"}});
        ASSERT_TRUE(eventually(
            "it is released", [&] { return !is_bound(); }, soon));
        prove.signal(SIGKILL);
    }
    EXPECT_EQ("false", team.item("workers.managed"));
    EXPECT_TRUE(eventually("it is bound again", is_bound, 40s));
    EXPECT_THAT(team.log(), HasSubstr("workers: no request from the benchmark"));
}

TEST_F(FollowingWorkers, stay_released_when_an_administrator_says_so_amid_a_measurement) {
    const TeamUnderTest team(with_workers(R"([{"command": "iperf3"}])"));
    const auto tell = [&](const std::string& method, const std::vector<std::string>& words) {
        return ControlSocket::to("team0")->ask(method, words).value_or("nothing");
    };
    EXPECT_THAT(tell("BenchmarkTry", {"ports", "off"}),
                HasSubstr("steps of a benchmark are interrupts and workers"));
    EXPECT_THAT(tell("BenchmarkTry", {"workers", "maybe"}), HasSubstr("A trial is on, off or end"));
    tell("BenchmarkTry", {"workers", "off"});
    EXPECT_EQ("false", team.item("workers.managed"));
    tell("BenchmarkTry", {"workers", "end"});
    EXPECT_EQ("true", team.item("workers.managed"));
    tell("BenchmarkTry", {"workers", "on"});
    EXPECT_EQ(0, team.teamoctl({"workers", "restore"}).status);
    EXPECT_THAT(tell("BenchmarkTry", {"workers", "on"}), HasSubstr("the administrator has switched workers"));
    EXPECT_EQ("false", team.item("workers.managed"));
    tell("BenchmarkTry", {"workers", "end"});
    EXPECT_EQ("false", team.item("workers.managed"));
    tell("BenchmarkTry", {"workers", "on"});
    EXPECT_EQ("true", team.item("workers.managed"));
    tell("BenchmarkTry", {"workers", "end"});
    EXPECT_EQ("false", team.item("workers.managed"));
}

TEST_F(FollowingWorkers, that_are_none_are_refused) {
    const TeamUnderTest team(with_workers(""));
    const auto worker = server(5201);
    EXPECT_THAT(team.teamoctl({"interrupts", "benchmark"}).err, HasSubstr("nothing to measure"));
    const auto refused = [&](std::vector<std::string> words) {
        const auto answer = team.teamoctl(words);
        EXPECT_NE(0, answer.status);
        return answer.err;
    };
    EXPECT_THAT(refused({"workers", "bind", "4000000"}), HasSubstr("process 4000000 is gone"));
    EXPECT_THAT(refused({"workers", "bind", "0"}), HasSubstr("0 is no process number"));
    EXPECT_THAT(refused({"workers", "bind", "1", "hop"}), HasSubstr("\"hop\" is not a policy"));
    EXPECT_THAT(refused({"workers", "release", std::to_string(worker.pid())}),
                HasSubstr("is no worker of this team"));
}

} // namespace
} // namespace teamo::test
