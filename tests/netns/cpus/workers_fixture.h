// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Servers and clients for tests of workers. On a veth packets arrive on the sending CPU, so the client's CPU
// decides where its server must run.
#pragma once

#include "kernel/cpus/cpus.h"
#include "netns/configs.h"
#include "support/daemon/control_socket.h"
#include "support/traffic/on_cpu.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

namespace teamo::test {

inline CpuList affinity(pid_t thread) { return read_thread_affinity(thread).value_or(CpuList{}); }

inline std::string with_workers(std::string_view rules) {
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
        // What the CPUs do stands still: a worker is placed beside a CPU that the interrupts of other
        // programs of this machine keep busy.
        must(NetNs::current(), "cp /proc/stat /run/stat && mount --bind /run/stat /proc/stat");
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
        const auto bound = eventually("it is bound", [&] { return is_bound(affinity(worker.pid())); }, soon);
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

} // namespace teamo::test
