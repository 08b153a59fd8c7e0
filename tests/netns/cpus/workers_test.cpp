// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Binds processes to the CPUs where their packets arrive.
//
// lab: Workers.* by none: binding is the same with every datapath
#include "netns/cpus/workers_fixture.h"
#include "support/daemon/watched_calls.h"

#include <linux/bpf.h>
#include <sys/mount.h>

#include <filesystem>
#include <fstream>
#include <optional>

namespace teamo::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST_F(Workers, follows_packets_until_the_team_stops) {
    TeamUnderTest team(with_workers(R"([{"command": "iperf3", "policy": "follow"}])"));
    bring_up(wires_, team);
    const auto worker = server(5201);
    listens(5201);
    {
        const auto traffic = client(cpus_[1], 5201);
        EXPECT_TRUE(becomes(std::vector{cpus_[1]}, [&] { return affinity(worker.pid()); }, soon));
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
    // Both are logged after the kernel has the CPUs.
    const auto is_logged = [&](const std::string& text) {
        return team.log().find(text) != std::string::npos;
    };
    ASSERT_TRUE(eventually("the binding is finished", [&] { return is_logged("runs on CPU"); }));
    ASSERT_TRUE(write_thread_affinity(busy.server.pid(), cpus_));
    EXPECT_TRUE(eventually("it is set back", is_bound, soon));
    const auto why =
        fmt::format("its CPUs were set to {} by another program; set back", teamo::text_of(cpus_));
    EXPECT_TRUE(eventually("the reason is logged", [&] { return is_logged(why); }));
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
    EXPECT_TRUE(stays("nothing is read", [&] { return held_programs(team.pid()) == before; }, 1500ms));
    EXPECT_THAT(team.teamoctl({"workers"}).out,
                AllOf(HasSubstr("no rule selects a process"), Not(HasSubstr("waiting for the users"))));
    const auto worker = server(5201);
    ASSERT_EQ(0, team.teamoctl({"workers", "bind", std::to_string(worker.pid())}).status);
    EXPECT_TRUE(eventually("the reader is loaded", [&] { return held_programs(team.pid()) > before; }));
}

} // namespace
} // namespace teamo::test
