// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/workers/worker_plan.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <random>

namespace teamo {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

/// Two nodes with four cores each that share a cache. With siblings, CPU n and n + 8 are one core.
CpuTopology machine(bool siblings = false) {
    CpuTopology topology;
    for (unsigned number = 0; number < (siblings ? 16U : 8U); ++number) {
        const auto core = number % 8;
        topology.cpus.push_back({.number = number, .core = core, .cache = core / 4 * 4, .node = core / 4});
    }
    return topology;
}

/// Four ports with their interrupts on CPUs 0 to 3.
std::vector<WorkerPort> four_ports() { return {{"eth0", {0}}, {"eth1", {1}}, {"eth2", {2}}, {"eth3", {3}}}; }

ActiveWorker worker(pid_t pid, std::map<unsigned, std::uint64_t> by_cpu, double work = 0.2) {
    ActiveWorker active;
    active.worker.id = {.pid = pid, .started = 1};
    for (const auto& [cpu, bytes] : by_cpu) {
        active.traffic.bytes += bytes;
        active.traffic.by_port[fmt::format("eth{}", cpu)] += bytes;
    }
    active.traffic.packets = active.traffic.bytes / 1000;
    active.traffic.by_cpu = std::move(by_cpu);
    active.work = work;
    return active;
}

constexpr std::uint64_t much = 10'000'000;

class WorkerPlan : public testing::Test {
protected:
    WorkerPlan() {
        input_.topology = &topology_;
        input_.ports = four_ports();
    }
    std::vector<WorkerPlacement> windows(unsigned count = 3) {
        std::vector<WorkerPlacement> placements;
        for (unsigned window = 0; window < count; ++window)
            placements = planner_.step(input_, now_ += 1s);
        return placements;
    }
    /// The CPUs of the only worker.
    CpuList place(unsigned count = 3) { return windows(count).at(0).cpus; }
    std::string reason(unsigned count = 1) { return windows(count).at(0).reason; }
    void with_siblings() { topology_ = machine(true); }

    CpuTopology topology_ = machine();
    WorkerPlanInput input_;
    WorkerPlanner planner_;
    WorkerPlanner::Time now_{};
};

TEST_F(WorkerPlan, follows_packets_after_three_windows) {
    input_.workers = {worker(7, {{2, much}, {3, much / 10}})};
    EXPECT_THAT(place(1), IsEmpty());
    EXPECT_THAT(place(1), IsEmpty());
    const auto placed = windows(1);
    EXPECT_THAT(placed,
                ElementsAre(WorkerPlacement{
                    .id = {7, 1}, .cpus = {2}, .reason = "91 % of its traffic arrives on CPU 2 (eth2)"}));
    EXPECT_EQ(windows(10), placed);
}

TEST_F(WorkerPlan, reports_progress) {
    input_.workers = {worker(7, {{2, much}})};
    EXPECT_EQ(
        reason(),
        "100 % of its traffic arrives on CPU 2 (eth2): 1 of 3 measurements agree; bound when all agree");
}

TEST_F(WorkerPlan, measures_windows_in_time) {
    input_.workers = {worker(7, {{2, much}})};
    for (int step = 0; step < 10; ++step)
        EXPECT_THAT(planner_.step(input_, now_ += 100ms).at(0).cpus, IsEmpty()) << step;
    EXPECT_THAT(planner_.step(input_, now_ + 1s).at(0).cpus, ElementsAre(2));
}

TEST_F(WorkerPlan, does_not_bind_without_dominant_cpu) {
    input_.workers = {worker(7, {{0, 23}, {1, 22}, {2, 20}, {3, 18}, {4, 17}})};
    for (auto& [cpu, bytes] : input_.workers[0].traffic.by_cpu)
        bytes *= much;
    input_.workers[0].traffic.bytes *= much;
    EXPECT_THAT(place(10), IsEmpty());
    EXPECT_EQ(reason(), "no CPU or port receives 60 % of its traffic; the most on one CPU is 23 %");
}

TEST_F(WorkerPlan, follows_port_with_several_cpus) {
    input_.ports = {{"eth0", {0, 1}}, {"eth1", {2, 3}}};
    input_.workers = {worker(7, {{2, much}, {3, much}})};
    input_.workers[0].traffic.by_port = {{"eth1", 2 * much}};
    input_.interrupts = {{2, 0.2}};
    EXPECT_THAT(place(), ElementsAre(2));
    EXPECT_EQ(reason(), "100 % of its traffic arrives on eth1 (CPU 2-3)");
}

TEST_F(WorkerPlan, does_not_bind_with_little_traffic) {
    input_.workers = {worker(7, {{2, 1000}})};
    EXPECT_THAT(place(10), IsEmpty());
    EXPECT_EQ(reason(), "too little traffic for a decision");
    input_.workers[0].traffic.packets = 200; // small ones
    EXPECT_THAT(place(3), ElementsAre(2));
}

TEST_F(WorkerPlan, uses_sibling_of_cpu_busy_with_interrupts) {
    with_siblings();
    input_.workers = {worker(7, {{2, much}})};
    input_.interrupts = {{2, 0.45}};
    EXPECT_THAT(place(), ElementsAre(10));
    EXPECT_EQ(reason(), "100 % of its traffic arrives on CPU 2 (eth2); that CPU spends 45 % of its time in "
                        "interrupts: placed on its sibling");
}

TEST_F(WorkerPlan, uses_same_cache_without_siblings) {
    input_.ports = {{"eth2", {2}}};
    input_.workers = {worker(7, {{2, much}})};
    input_.interrupts = {{2, 0.45}};
    EXPECT_THAT(place(), ElementsAre(0));
    EXPECT_THAT(reason(), HasSubstr("a CPU with the same cache"));
}

TEST_F(WorkerPlan, uses_other_core_if_core_is_full) {
    with_siblings();
    input_.ports = {{"eth2", {2}}};
    input_.workers = {worker(7, {{2, much}})};
    input_.interrupts = {{2, 0.85}};
    EXPECT_THAT(place(), ElementsAre(0));
}

TEST_F(WorkerPlan, uses_same_node_if_nothing_is_nearer) {
    for (auto& cpu : topology_.cpus)
        cpu.cache = cpu.number;
    input_.ports = {{"eth5", {5}}};
    input_.workers = {worker(7, {{5, much}})};
    input_.interrupts = {{5, 0.85}};
    EXPECT_THAT(place(), ElementsAre(4));
    EXPECT_THAT(reason(), HasSubstr("a CPU of the same node"));
}

TEST_F(WorkerPlan, avoids_interrupts_of_other_ports_and_other_nodes) {
    input_.workers = {worker(7, {{2, much}})};
    input_.interrupts = {{2, 0.5}};
    EXPECT_THAT(place(), ElementsAre(2));
    input_.interrupts = {{2, 0.9}};
    EXPECT_THAT(place(6), ElementsAre(2));
}

TEST_F(WorkerPlan, uses_no_cpu_that_is_isolated_or_outside_the_cpuset) {
    input_.ports = {{"eth2", {2}}};
    input_.workers = {worker(7, {{2, much}})};
    topology_.cpus[2].isolated = true;
    EXPECT_THAT(place(), ElementsAre(0));
    EXPECT_THAT(reason(), HasSubstr("it may not use that CPU"));
    auto& allowed = input_.workers.front().allowed;
    allowed = {2, 3};
    EXPECT_THAT(place(), ElementsAre(3));
    allowed = {6};
    EXPECT_THAT(place(), IsEmpty());
    EXPECT_THAT(reason(), HasSubstr("but fewer than 1 usable CPUs are near"));
    allowed = {2};
    EXPECT_THAT(place(), IsEmpty());
    EXPECT_EQ(reason(), "no CPU of its cpuset is online and not isolated");
}

TEST_F(WorkerPlan, puts_two_light_workers_on_one_cpu) {
    input_.workers = {worker(7, {{2, much}}, 0.2), worker(8, {{2, much}}, 0.2)};
    const auto placed = windows(3);
    EXPECT_THAT(placed.at(0).cpus, ElementsAre(2));
    EXPECT_THAT(placed.at(1).cpus, ElementsAre(2));
}

TEST_F(WorkerPlan, separates_two_busy_workers) {
    with_siblings();
    input_.workers = {worker(7, {{2, much}}, 0.6), worker(8, {{2, 2 * much}}, 0.7)};
    const auto placed = windows(3);
    EXPECT_THAT(placed.at(1).cpus, ElementsAre(2));
    EXPECT_THAT(placed.at(0).cpus, ElementsAre(10));
    EXPECT_EQ(
        placed.at(0).reason,
        "100 % of its traffic arrives on CPU 2 (eth2); other workers use that CPU: placed on its sibling");
    std::swap(input_.workers[0].traffic, input_.workers[1].traffic);
    EXPECT_EQ(windows(10), placed); // no reason to change places
}

TEST_F(WorkerPlan, gives_busy_threads_more_cpus) {
    input_.ports = {{"eth2", {2}}};
    input_.workers = {worker(7, {{2, much}}, 2.4)};
    input_.workers[0].worker.threads = 8;
    EXPECT_THAT(place(), ElementsAre(0, 1, 2));
    input_.workers[0].work = 2.95; // it uses all of its CPUs
    EXPECT_THAT(place(), ElementsAre(0, 1, 2, 3));
    input_.workers[0].work = 1.2;
    EXPECT_THAT(place(), SizeIs(3));
    input_.workers[0].worker.threads = 1;
    EXPECT_THAT(place(), ElementsAre(2));
}

TEST_F(WorkerPlan, does_not_bind_if_too_few_cpus_are_near) {
    input_.workers = {worker(7, {{2, much}}, 7.5)};
    input_.workers[0].worker.threads = 32;
    EXPECT_THAT(place(6), IsEmpty());
    EXPECT_THAT(reason(), HasSubstr("but fewer than 8 usable CPUs are near"));
}

TEST_F(WorkerPlan, moves_after_three_windows_on_other_cpu) {
    input_.workers = {worker(7, {{2, much}})};
    EXPECT_THAT(place(), ElementsAre(2));
    input_.workers = {worker(7, {{1, much}})};
    EXPECT_THAT(place(1), ElementsAre(2));
    EXPECT_THAT(place(1), ElementsAre(2));
    EXPECT_THAT(place(1), ElementsAre(1));
}

TEST_F(WorkerPlan, does_not_flap_with_alternating_packets) {
    input_.workers = {worker(7, {{2, much}})};
    EXPECT_THAT(place(), ElementsAre(2));
    for (int window = 0; window < 50; ++window) {
        input_.workers = {worker(7, {{window % 3 == 0 ? 2U : 1U, much}})};
        EXPECT_THAT(place(1), ElementsAre(2)) << window;
    }
}

TEST_F(WorkerPlan, does_not_flap_at_thresholds) {
    with_siblings();
    input_.workers = {worker(7, {{2, 61}, {1, 39}})};
    const auto noisy = [&](std::uint64_t here, double load) {
        input_.workers = {worker(7, {{2, here * much / 100}, {1, (100 - here) * much / 100}})};
        input_.interrupts = {{2, load}};
    };
    noisy(61, 0.29);
    EXPECT_THAT(place(), ElementsAre(2));
    for (int window = 0; window < 60; ++window) {
        noisy(window / 4 % 2 == 0 ? 58 : 52, window / 5 % 2 == 0 ? 0.34 : 0.26);
        EXPECT_THAT(place(1), ElementsAre(2)) << window;
    }
}

TEST_F(WorkerPlan, releases_after_three_windows_without_dominant_cpu) {
    input_.workers = {worker(7, {{2, much}})};
    EXPECT_THAT(place(), ElementsAre(2));
    input_.workers = {worker(7, {{2, much}, {1, much}, {0, much}})};
    EXPECT_THAT(place(2), ElementsAre(2));
    EXPECT_THAT(place(1), IsEmpty());
    EXPECT_EQ(reason(), "no CPU or port receives 60 % of its traffic; the most on one CPU is 33 %");
}

TEST_F(WorkerPlan, keeps_idle_worker_in_place) {
    input_.workers = {worker(7, {{2, much}})};
    EXPECT_THAT(place(), ElementsAre(2));
    input_.workers = {worker(7, {})};
    EXPECT_THAT(place(100), ElementsAre(2));
}

TEST_F(WorkerPlan, forgets_ended_process) {
    input_.workers = {worker(7, {{2, much}})};
    EXPECT_THAT(place(), ElementsAre(2));
    input_.workers.clear();
    EXPECT_THAT(windows(1), IsEmpty());
    input_.workers = {worker(7, {{2, much}})};
    EXPECT_THAT(place(1), IsEmpty());
}

TEST_F(WorkerPlan, detects_reused_process_id) {
    input_.workers = {worker(7, {{2, much}})};
    EXPECT_THAT(place(), ElementsAre(2));
    input_.workers[0].worker.id.started = 2;
    EXPECT_THAT(place(1), IsEmpty());
}

TEST_F(WorkerPlan, leaves_offline_cpu_at_once) {
    input_.workers = {worker(7, {{2, much}})};
    EXPECT_THAT(place(), ElementsAre(2));
    topology_.cpus[2].online = false;
    EXPECT_THAT(place(1), IsEmpty());
}

TEST_F(WorkerPlan, releases_at_once_with_policy_off) {
    input_.workers = {worker(7, {{2, much}})};
    EXPECT_THAT(place(), ElementsAre(2));
    input_.workers[0].policy = WorkerPolicy::off;
    EXPECT_THAT(place(1), IsEmpty());
    EXPECT_EQ(reason(), "policy off");
}

TEST_F(WorkerPlan, spreads_over_cpus_without_interrupts_first) {
    for (pid_t pid = 1; pid <= 4; ++pid) {
        input_.workers.push_back(worker(pid, {}));
        input_.workers.back().policy = WorkerPolicy::spread;
    }
    std::vector<CpuList> cpus;
    for (const auto& placed : windows(1)) {
        cpus.push_back(placed.cpus);
        EXPECT_EQ(placed.reason, fmt::format("has CPU {} alone", placed.cpus.at(0)));
    }
    EXPECT_THAT(cpus, testing::UnorderedElementsAre(CpuList{4}, CpuList{5}, CpuList{6}, CpuList{7}));
}

TEST_F(WorkerPlan, spreads_over_cores_before_siblings) {
    with_siblings();
    input_.ports.clear();
    for (pid_t pid = 1; pid <= 8; ++pid) {
        input_.workers.push_back(worker(pid, {}));
        input_.workers.back().policy = WorkerPolicy::spread;
    }
    std::set<unsigned> cores;
    for (const auto& placed : windows(1))
        cores.insert(topology_.find(placed.cpus.at(0))->core);
    EXPECT_THAT(cores, SizeIs(8));
}

TEST_F(WorkerPlan, shares_cpus_if_workers_outnumber_them) {
    for (pid_t pid = 1; pid <= 4; ++pid) {
        input_.workers.push_back(worker(pid, {}));
        input_.workers.back().allowed = {4, 5};
        input_.workers.back().policy = WorkerPolicy::spread;
    }
    std::map<unsigned, int> on;
    for (const auto& placed : windows(5))
        ++on[placed.cpus.at(0)];
    EXPECT_EQ(on, (std::map<unsigned, int>{{4, 2}, {5, 2}}));
}

TEST_F(WorkerPlan, keeps_spread_when_worker_ends) {
    for (pid_t pid = 1; pid <= 4; ++pid) {
        input_.workers.push_back(worker(pid, {}));
        input_.workers.back().policy = WorkerPolicy::spread;
    }
    const auto before = windows(1);
    input_.workers.erase(input_.workers.begin());
    const auto after = windows(5);
    for (std::size_t index = 0; index < after.size(); ++index)
        EXPECT_EQ(after[index].cpus, before[index + 1].cpus);
}

// For any traffic: a placement uses only eligible CPUs, has a reason of one line, changes at most every three
// windows, and does not depend on the order of the workers.
TEST_F(WorkerPlan, holds_properties_for_random_traffic) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(fmt::format("seed {}", seed));
    std::mt19937 random(seed);
    const auto any = [&random](unsigned below) { return static_cast<unsigned>(random() % below); };
    for (int run = 0; run < 40; ++run) {
        topology_ = machine(any(2) == 1);
        for (auto& cpu : topology_.cpus)
            cpu.isolated = any(6) == 0;
        planner_ = WorkerPlanner();
        auto mirrored = planner_;
        std::map<ProcessId, std::pair<CpuList, int>> changed; // CPUs, and the window since which
        for (int window = 0; window < 40; ++window) {
            input_.workers.clear();
            for (pid_t pid = 1; pid <= 6; ++pid) {
                auto one = worker(pid, {{any(4), any(3) * much}, {any(4), any(2) * much}}, any(10) / 10.0);
                one.policy = pid <= 4 ? WorkerPolicy::follow : WorkerPolicy::spread;
                one.worker.threads = 1 + any(2);
                input_.workers.push_back(one);
            }
            for (unsigned cpu = 0; cpu < 4; ++cpu)
                input_.interrupts[cpu] = any(100) / 100.0;
            const auto placed = planner_.step(input_, now_ += 1s);
            std::ranges::shuffle(input_.workers, random);
            ASSERT_EQ(mirrored.step(input_, now_), placed);
            ASSERT_THAT(placed, SizeIs(6));
            for (const auto& one : placed) {
                for (const auto cpu : one.cpus)
                    EXPECT_FALSE(topology_.find(cpu)->isolated);
                EXPECT_FALSE(one.reason.empty());
                EXPECT_EQ(one.reason.find('\n'), std::string::npos);
                const auto known = changed.try_emplace(one.id, one.cpus, window).first;
                if (known->second.first == one.cpus) continue;
                EXPECT_GE(window - known->second.second, one.id.pid <= 4 ? 2 : 0);
                known->second = {one.cpus, window};
            }
        }
    }
}

} // namespace
} // namespace teamo
