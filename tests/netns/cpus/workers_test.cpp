// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Binds processes to the CPUs where their packets arrive. On a veth packets arrive on the sending CPU, so the
// client's CPU decides where its server must run.
//
// lab: Workers.* by none: binding is the same with every datapath
#include "kernel/cpus/cpus.h"
#include "netns/configs.h"
#include "support/daemon/control_socket.h"
#include "support/daemon/watched_calls.h"
#include "support/traffic/on_cpu.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>
#include <linux/bpf.h>
#include <sys/mount.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <regex>
#include <set>
#include <thread>

namespace teamo::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

CpuList affinity(pid_t thread) { return read_thread_affinity(thread).value_or(CpuList{}); }

std::string with_workers(std::string_view rules) {
    return team_config(by_flow, ports_object(2),
                       rules.empty() ? std::string() : fmt::format(R"("workers": {}, )", rules));
}

/// Every affinity that a process has while this exists, also for a moment.
class AffinityWatch {
public:
    explicit AffinityWatch(pid_t process)
        : watching_([this, process](const std::stop_token& stop) {
              for (; !stop.stop_requested(); std::this_thread::sleep_for(1ms))
                  seen_.insert(affinity(process));
          }) {}
    std::set<CpuList> seen() {
        watching_.request_stop();
        watching_.join();
        return seen_;
    }

private:
    std::set<CpuList> seen_;
    std::jthread watching_; ///< last: uses the other member
};

constexpr auto soon = 20s; // three measurement windows of one second, on a busy machine

class Workers : public testing::Test {
protected:
    void SetUp() override {
        if (cpus_.size() < 2) GTEST_SKIP() << "one CPU";
    }

    Process server(int port, std::vector<std::string> before = {}) const {
        auto words = std::move(before);
        words.insert(words.end(), {"iperf3", "-s", "-p", std::to_string(port)});
        return Process::start({.argv = std::move(words), .in = &wires_.host()});
    }
    /// Sends to the server from one CPU, without end.
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

    struct Busy {
        Process server, client;
    };
    /// A server whose packets arrive on `cpu`, as soon as `is_bound` is true of its CPUs.
    template <class IsBound>
    Busy bound_by(const TeamUnderTest& team, unsigned cpu, IsBound is_bound) const {
        bring_up(wires_, team);
        auto worker = server(5201);
        listens(5201);
        auto traffic = client(cpu, 5201);
        const auto bound = eventually(
            "it is bound", [&] { return is_bound(affinity(worker.pid())); }, soon);
        if (!bound) throw SetupError(bound.message());
        return {std::move(worker), std::move(traffic)};
    }
    /// The same by a team that follows the packets.
    Busy following(const TeamUnderTest& team, unsigned cpu) const {
        return bound_by(team, cpu, [cpu](const auto& cpus) { return cpus == std::vector{cpu}; });
    }
    /// A server that the daemon of `team` has bound before it was killed.
    Busy left_bound_by(TeamUnderTest& team) {
        auto busy = bound_by(team, cpus_[0], [](const auto& cpus) { return cpus.size() == 1; });
        team.kill();
        return busy;
    }

    const std::vector<unsigned> cpus_ = usable_cpus();
    const Cabling wires_{2, FarSide::lag_switch};
};

TEST_F(Workers, follows_packets_until_the_team_stops) {
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
        // The server refuses a client until it has noticed that the last one is gone.
        std::optional<Process> traffic;
        const auto affinity_with_traffic = [&] {
            if (!traffic || !traffic->running()) traffic.emplace(client(cpus_[0], 5201));
            return affinity(worker.pid());
        };
        EXPECT_TRUE(becomes(std::vector{cpus_[0]}, affinity_with_traffic, soon));
    }
    team.stop();
    EXPECT_EQ(cpus_, affinity(worker.pid()));
}

/// The kernel has no packet counters for UDP sockets: the daemon samples packets at the root cgroup.
TEST_F(Workers, follows_datagrams) {
    must(NetNs::current(), "mkdir -p /run/cgroup");
    must(NetNs::current(), "mount -t cgroup2 none /run/cgroup");
    TeamUnderTest team(with_workers(R"([{"command": "iperf3"}])"), TeamUnderTest::later);
    WatchedCalls calls;
    ASSERT_TRUE(team.try_to_start(calls));
    bring_up(wires_, team);
    calls.refuse_steps(fmt::format("bpf {}", static_cast<int>(BPF_LINK_CREATE)), ENOMEM);
    const auto worker = server(5201);
    listens(5201);
    for (const auto cpu : {cpus_[1], cpus_[0]}) {
        // A low rate: the interrupts must not keep a CPU busy, or the scheduler would move the worker away.
        const auto traffic = client(cpu, 5201, {"-u", "-b", "10M"});
        if (cpu == cpus_[1]) { // a failure that passes
            EXPECT_TRUE(eventually(
                "the packets are not counted",
                [&] {
                    return team.teamoctl({"workers"}).out.find("UDP traffic is not measured") !=
                           std::string::npos;
                },
                soon));
            calls.refuse_steps("", 0);
        }
        EXPECT_TRUE(becomes(
            std::vector{cpu}, [&] { return affinity(worker.pid()); }, soon))
            << team.teamoctl({"workers"}).out;
    }
}

/// A directory service that does not answer: each look-up of a user waits, and finds none.
TEST_F(Workers, of_a_user_do_not_make_the_team_wait) {
    const auto& host = NetNs::current();
    must(host, "mkdir /run/etc && cp /etc/nsswitch.conf /etc/group /etc/ld.so.cache /run/etc");
    must(host, "(cat /etc/passwd; echo another:x:0:0::/:/bin/sh) > /run/etc/known");
    must(host, "mkfifo /run/etc/silent && mount --bind /run/etc /etc");
    const std::string begin = "ln -f /etc/silent /etc/passwd",
                      end = "ln -f /etc/known /etc/passwd; : <> /etc/silent";
    must(host, begin);
    TeamUnderTest team(with_workers(R"([{"user": "another"}])"));
    bring_up(wires_, team);
    const auto worker = server(5201);
    listens(5201);
    const auto traffic = client(cpus_[1], 5201);
    const auto waits = [&] {
        return team.teamoctl({"workers"}).out.find("waiting for the users that the rules name") !=
               std::string::npos;
    };
    EXPECT_TRUE(waits());
    const auto named = Process::start({.argv = {"sleep", "600"}});
    ASSERT_EQ(0, team.teamoctl({"workers", "bind", std::to_string(named.pid()), "spread"}).status);
    EXPECT_TRUE(eventually(
        "after ten seconds other processes are bound", [&] { return affinity(named.pid()).size() == 1; },
        soon));
    EXPECT_TRUE(waits());
    must(host, end);
    EXPECT_TRUE(eventually("the user is unknown", [&] {
        return team.log().find("there is no user another; the rule matches no process") != std::string::npos;
    }));
    EXPECT_EQ(0, team.teamoctl({"config", "reload"}).status);
    EXPECT_TRUE(becomes(
        std::vector{cpus_[1]}, [&] { return affinity(worker.pid()); }, soon))
        << team.teamoctl({"workers"}).out;
    must(host, begin);
    EXPECT_EQ(0, team.teamoctl({"config", "reload"}).status);
    EXPECT_FALSE(waits()) << "the user is known";
    const auto later = server(5202);
    listens(5202);
    const auto more = client(cpus_[0], 5202);
    EXPECT_TRUE(becomes(
        std::vector{cpus_[0]}, [&] { return affinity(later.pid()); }, soon))
        << team.teamoctl({"workers"}).out;
    must(host, end);
    EXPECT_EQ(std::vector{cpus_[1]}, affinity(worker.pid())) << "it is known from before";
}

TEST_F(Workers, stay_where_they_are_until_a_later_daemon_stops) {
    WatchedCalls after_restart, after_kill;
    TeamUnderTest team(with_workers(R"([{"command": "iperf3"}])"), {"-N"});
    bring_up(wires_, team);
    const auto worker = server(5201), idle = server(5202);
    listens(5201);
    listens(5202);
    const auto traffic = client(cpus_[1], 5201);
    {
        const auto until_it_is_bound = client(cpus_[1], 5202);
        for (const auto pid : {worker.pid(), idle.pid()})
            ASSERT_TRUE(becomes(
                std::vector{cpus_[1]}, [&] { return affinity(pid); }, soon));
    }
    AffinityWatch watch(worker.pid()), watch_idle(idle.pid());
    const auto is_shown_as_bound = [&] {
        return eventually(
            "the new daemon has measured and shows the worker where it was",
            [&] {
                const auto shown = team.teamoctl({"workers"}, {"--json"}).out;
                return shown.find(fmt::format(R"("cpus": "{}")", cpus_[1])) != std::string::npos &&
                       shown.find("% of its traffic arrives") != std::string::npos;
            },
            soon);
    };
    team.stop(); // -N: the team continues
    ASSERT_TRUE(team.try_to_start(after_restart));
    EXPECT_TRUE(is_shown_as_bound());
    team.kill();
    ASSERT_TRUE(team.try_to_start(after_kill));
    EXPECT_TRUE(is_shown_as_bound());
    EXPECT_THAT(watch.seen(), ElementsAre(CpuList{cpus_[1]}));
    EXPECT_THAT(watch_idle.seen(), ElementsAre(CpuList{cpus_[1]})) << "it has no connection";
    for (const auto* calls : {&after_restart, &after_kill})
        EXPECT_THAT(calls->steps(), Not(testing::Contains("sched_setaffinity")));
    EXPECT_THAT(team.log(), HasSubstr("adopted 2 processes that an earlier daemon had bound"));
    team.stop();
    EXPECT_EQ(cpus_, affinity(worker.pid()));
    EXPECT_EQ(cpus_, affinity(idle.pid()));
}

/// The daemon's journal; `edit` may change it while no daemon runs.
std::string journal(const std::function<void(std::string&)>& edit = {}) {
    constexpr auto path = "/run/teamd-offload/team0.json";
    std::ifstream file(path);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (edit) {
        edit(text);
        std::ofstream(path) << text;
    }
    return text;
}

std::string entry_of(const Process& process) { return fmt::format(R"("process": {},)", process.pid()); }

TEST_F(Workers, of_an_earlier_daemon_go_if_nothing_wants_them) {
    TeamUnderTest team(with_workers(R"([{"command": "iperf3", "policy": "spread"}])"));
    bring_up(wires_, team);
    const auto unwanted = server(5201), reused = server(5202);
    auto gone = server(5203);
    std::vector<Process> clients;
    for (const int port : {5201, 5202, 5203}) {
        listens(port);
        clients.push_back(client(cpus_[0], port));
    }
    const auto named = Process::start({.argv = {"sleep", "600"}});
    ASSERT_EQ(0, team.teamoctl({"workers", "bind", std::to_string(named.pid()), "spread"}).status);
    for (const auto pid : {unwanted.pid(), reused.pid(), gone.pid(), named.pid()})
        ASSERT_TRUE(eventually(
            "it is bound", [&] { return affinity(pid).size() == 1; }, soon));
    const auto journaled = [&](const Process& process) {
        return journal().find(entry_of(process)) != std::string::npos;
    };
    ASSERT_TRUE(eventually("all are in the journal", [&] { return journaled(named) && journaled(gone); }));
    team.kill();
    gone.signal(SIGKILL);
    ASSERT_TRUE(gone.wait(patient(long_enough)));
    journal([&](std::string& text) { // as if another process had its number now
        text = std::regex_replace(text, std::regex(entry_of(reused) + R"(\s*"started": \d+)"),
                                  entry_of(reused) + R"("started": 1)");
    });
    AffinityWatch other(reused.pid()), by_hand(named.pid());
    team.start({"-c", with_workers("")});
    EXPECT_TRUE(becomes(cpus_, [&] { return affinity(unwanted.pid()); }));
    EXPECT_TRUE(eventually("only the named process is in the journal", [&] {
        return journaled(named) && !journaled(unwanted) && !journaled(reused) && !journaled(gone);
    })) << journal();
    EXPECT_THAT(team.teamoctl({"workers"}).out, AllOf(HasSubstr("sleep"), HasSubstr("by hand")));
    EXPECT_THAT(by_hand.seen(), ElementsAre(testing::SizeIs(1)));
    EXPECT_THAT(other.seen(), ElementsAre(testing::SizeIs(1)));
    team.stop();
    EXPECT_EQ(cpus_, affinity(named.pid()));
}

TEST_F(Workers, of_an_earlier_daemon_go_at_once_without_a_rule) {
    TeamUnderTest team(with_workers(R"([{"command": "iperf3", "policy": "spread"}])"));
    const auto [worker, traffic] = left_bound_by(team);
    team.start({"-c", with_workers("")});
    EXPECT_EQ(cpus_, affinity(worker.pid()));
    EXPECT_THAT(journal(), Not(HasSubstr(entry_of(worker))));
}

/// A daemon without the rights for `workers` (systemd's ProtectProc=) does not see the processes of other
/// users.
TEST_F(Workers, of_an_earlier_daemon_stay_in_the_journal_while_they_are_hidden) {
    TeamUnderTest team(with_workers(R"([{"command": "iperf3", "policy": "spread"}])"));
    const auto [worker, traffic] = left_bound_by(team);
    const auto entry = fmt::format("/proc/{}", worker.pid());
    ASSERT_EQ(0, ::mount("tmpfs", entry.c_str(), "tmpfs", 0, nullptr));
    team.start({"-c", with_workers("")});
    EXPECT_THAT(team.log(), HasSubstr(entry + " cannot be read"));
    EXPECT_THAT(journal(), HasSubstr(entry_of(worker)));
    ASSERT_EQ(0, ::umount(entry.c_str()));
    team.kill();
    team.start({"-c", with_workers("")});
    EXPECT_EQ(cpus_, affinity(worker.pid()));
    EXPECT_THAT(journal(), Not(HasSubstr(entry_of(worker))));
}

TEST_F(Workers, binds_and_releases_by_hand) {
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

TEST_F(Workers, binds_what_workers_run_starts) {
    TeamUnderTest team(with_workers(""));
    bring_up(wires_, team);
    const auto worker = server(5201, {teamoctl_program(), "team0", "workers", "run", "--"});
    listens(5201);
    const auto traffic = client(cpus_[1], 5201);
    EXPECT_TRUE(becomes(
        std::vector{cpus_[1]}, [&] { return affinity(worker.pid()); }, soon));
}

TEST_F(Workers, spreads_over_cpus) {
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
    // The same rule of another team: the first team keeps them.
    const std::vector<CpuList> placed{affinity(one.pid()), affinity(other.pid())};
    const TeamUnderTest second(
        R"({"device": "team1", "workers": [{"command": "iperf3", "policy": "spread"}]})", {}, "team1");
    const auto shown = [&] { return second.teamoctl({"workers"}).out; };
    EXPECT_TRUE(eventually(
        "the other team says why", [&] { return shown().find("bound by team0") != std::string::npos; },
        soon));
    EXPECT_EQ(placed, (std::vector{affinity(one.pid()), affinity(other.pid())}));
    EXPECT_EQ(0, team.teamoctl({"workers", "restore"}).status);
    EXPECT_TRUE(eventually(
        "the other team binds them",
        [&] {
            return shown().find("bound by team0") == std::string::npos && affinity(one.pid()).size() == 1 &&
                   affinity(other.pid()).size() == 1;
        },
        soon))
        << shown();
    EXPECT_EQ(0, second.teamoctl({"workers", "restore"}).status);
    EXPECT_EQ(cpus_, affinity(one.pid()));
    EXPECT_EQ(cpus_, affinity(other.pid()));
}

TEST_F(Workers, are_set_back_if_another_program_moves_them) {
    const TeamUnderTest team(with_workers(R"([{"command": "iperf3"}])"));
    const auto busy = following(team, cpus_[1]);
    const auto is_bound = [&] { return affinity(busy.server.pid()) == std::vector{cpus_[1]}; };
    ASSERT_TRUE(write_thread_affinity(busy.server.pid(), cpus_));
    EXPECT_TRUE(eventually("it is set back", is_bound, soon));
    EXPECT_THAT(team.log(), HasSubstr(fmt::format("its CPUs were set to {} by another program; set back",
                                                  teamo::text_of(cpus_))));
}

TEST_F(Workers, of_a_team_that_is_gone_are_free) {
    TeamUnderTest team(with_workers(R"([{"command": "iperf3", "policy": "spread"}])"));
    const auto busy = left_bound_by(team);
    must(wires_.host(), "ip link del team0");
    const TeamUnderTest second(
        R"({"device": "team1", "workers": [{"command": "iperf3", "policy": "spread"}]})", {}, "team1");
    EXPECT_TRUE(eventually(
        "the other team binds it",
        [&] {
            return second.log().find(fmt::format("iperf3 (process {}): runs on CPU", busy.server.pid())) !=
                   std::string::npos;
        },
        soon))
        << second.teamoctl({"workers"}).out;
}

/// A control group (cgroup v1) that may use only this CPU. Mounted by the test, whose /sys has no control
/// groups.
class Cpuset {
public:
    explicit Cpuset(unsigned cpu) {
        if (::mount("tmpfs", mounts_, "tmpfs", 0, nullptr) < 0) throw SetupError("cannot mount a tmpfs");
        fs::create_directory(hierarchy_);
        is_there_ = ::mount("cgroup", hierarchy_.c_str(), "cgroup", 0, "cpuset") == 0;
        if (!is_there_) return; // the unified hierarchy has the controller
        fs::create_directory(folder_);
        write("cpuset.cpus", std::to_string(cpu));
        write("cpuset.mems", "0");
    }
    ~Cpuset() {
        ::rmdir(folder_.c_str());
        ::umount2(hierarchy_.c_str(), MNT_DETACH);
        ::umount2(mounts_, MNT_DETACH);
    }
    bool is_there() const { return is_there_; }
    void write(const char* file, const std::string& text) const { std::ofstream(folder_ / file) << text; }

private:
    const char* mounts_ = "/sys/fs/cgroup";
    fs::path hierarchy_ = fmt::format("{}/cpuset", mounts_),
             folder_ = hierarchy_ / fmt::format("teamo-test-{}", ::getpid());
    bool is_there_ = false;
};

TEST_F(Workers, are_placed_within_their_cpuset) {
    const Cpuset cpuset(cpus_[1]);
    if (!cpuset.is_there()) GTEST_SKIP() << "no cpusets of cgroup v1";
    TeamUnderTest team(with_workers(R"([{"command": "iperf3"}])"));
    bring_up(wires_, team);
    const auto worker = server(5201);
    cpuset.write("tasks", std::to_string(worker.pid()));
    listens(5201);
    const auto traffic = client(cpus_[0], 5201);
    EXPECT_TRUE(eventually(
        "it is bound",
        [&] {
            const auto shown = team.teamoctl({"workers"}, {"--json"}).out;
            return shown.find("it may not use that CPU") != std::string::npos &&
                   shown.find(fmt::format(R"("cpus": "{}")", cpus_[1])) != std::string::npos;
        },
        soon))
        << team.teamoctl({"workers"}).out;
    team.stop();
    cpuset.write("cpuset.cpus", teamo::text_of(cpus_));
    EXPECT_EQ(cpus_, affinity(worker.pid())) << "it is not restricted to the cpuset of before";
}

/// The number of BPF objects that the daemon has open.
std::size_t held_programs(pid_t pid) {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(fmt::format("/proc/{}/fd", pid))) {
        std::error_code gone;
        if (fs::read_symlink(entry, gone).native().find("bpf") != std::string::npos) ++count;
    }
    return count;
}

TEST_F(Workers, searches_none_without_a_rule) {
    const TeamUnderTest team(with_workers(""));
    bring_up(wires_, team);
    const auto before = held_programs(team.pid());
    EXPECT_TRUE(stays(
        "nothing is read", [&] { return held_programs(team.pid()) == before; }, 1500ms));
    EXPECT_THAT(team.teamoctl({"workers"}).out,
                AllOf(HasSubstr("no rule selects a process"), Not(HasSubstr("waiting for the users"))));
    const auto worker = server(5201);
    ASSERT_EQ(0, team.teamoctl({"workers", "bind", std::to_string(worker.pid())}).status);
    EXPECT_TRUE(eventually("the reader is loaded", [&] { return held_programs(team.pid()) > before; }));
}

TEST_F(Workers, binds_again_after_a_killed_benchmark) {
    const TeamUnderTest team(with_workers(R"([{"command": "iperf3"}])"));
    const auto busy = following(team, cpus_[1]);
    const auto is_bound = [&] { return affinity(busy.server.pid()) == std::vector{cpus_[1]}; };
    {
        const auto benchmark =
            Process::start({.argv = {teamoctl_program(), "team0", "interrupts", "benchmark"}});
        ASSERT_TRUE(eventually(
            "it is released", [&] { return !is_bound(); }, soon));
        benchmark.signal(SIGKILL);
    }
    EXPECT_EQ("false", team.item("workers.managed"));
    EXPECT_TRUE(eventually("it is bound again", is_bound, 40s));
    EXPECT_THAT(team.log(), HasSubstr("workers: no request from the benchmark"));
}

TEST_F(Workers, restore_ends_a_trial) {
    const TeamUnderTest team(with_workers(R"([{"command": "iperf3"}])"));
    const auto request = [&](const std::string& method, const std::vector<std::string>& words) {
        return ControlSocket::to("team0")->ask(method, words).value_or("nothing");
    };
    EXPECT_THAT(request("BenchmarkTry", {"ports", "off"}),
                HasSubstr("steps of a benchmark are interrupts and workers"));
    EXPECT_THAT(request("BenchmarkTry", {"workers", "maybe"}), HasSubstr("A trial is on, off or end"));
    request("BenchmarkTry", {"workers", "off"});
    EXPECT_EQ("false", team.item("workers.managed"));
    request("BenchmarkTry", {"workers", "end"});
    EXPECT_EQ("true", team.item("workers.managed"));
    request("BenchmarkTry", {"workers", "on"});
    EXPECT_EQ(0, team.teamoctl({"workers", "restore"}).status);
    EXPECT_THAT(request("BenchmarkTry", {"workers", "on"}),
                HasSubstr("the administrator has switched workers"));
    EXPECT_EQ("false", team.item("workers.managed"));
    request("BenchmarkTry", {"workers", "end"});
    EXPECT_EQ("false", team.item("workers.managed"));
    request("BenchmarkTry", {"workers", "on"});
    EXPECT_EQ("true", team.item("workers.managed"));
    request("BenchmarkTry", {"workers", "end"});
    EXPECT_EQ("false", team.item("workers.managed"));
}

TEST_F(Workers, refuses_invalid_processes) {
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
