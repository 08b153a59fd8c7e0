// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A worker that an earlier daemon placed on CPU 2.
#include "plan/workers/worker_plan.h"

#include <gmock/gmock.h>

namespace teamo {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

class AdoptedWorker : public testing::Test {
protected:
    AdoptedWorker() {
        for (unsigned number = 0; number < 4; ++number)
            topology_.cpus.push_back({.number = number, .core = number, .cache = 0, .node = 0});
        input_.topology = &topology_;
        input_.workers.emplace_back().worker.id = {.pid = 7, .started = 1};
        planner_.adopt({7, 1}, {2});
    }
    /// What it receives in a window, in MB, by CPU.
    void receives(const std::map<unsigned, std::uint64_t>& megabytes) {
        auto& traffic = input_.workers[0].traffic;
        traffic = {};
        for (const auto& [cpu, count] : megabytes) {
            traffic.by_cpu[cpu] = count * 1'000'000;
            traffic.bytes += count * 1'000'000;
        }
    }
    WorkerPlacement after(unsigned windows) {
        WorkerPlacement placement;
        for (unsigned window = 0; window < windows; ++window)
            placement = planner_.step(input_, now_ += 1s).at(0);
        return placement;
    }

    CpuTopology topology_;
    WorkerPlanInput input_;
    WorkerPlanner planner_;
    WorkerPlanner::Time now_{};
};

TEST_F(AdoptedWorker, stays_until_packets_are_measured) {
    EXPECT_EQ(after(5),
              (WorkerPlacement{.id = {7, 1}, .cpus = {2}, .reason = "placed by an earlier daemon"}));
}

/// A little more than half of its traffic is enough, and that CPU may have some more interrupts.
TEST_F(AdoptedWorker, stays_by_the_limits_of_a_placed_worker) {
    receives({{2, 11}, {1, 9}});
    input_.interrupts[2] = 0.33;
    for (int window = 0; window < 10; ++window)
        EXPECT_THAT(after(1).cpus, ElementsAre(2)) << window;
    EXPECT_THAT(after(1).reason, StartsWith("55 % of its traffic arrives on CPU 2"));
}

TEST_F(AdoptedWorker, moves_and_is_released_after_three_windows) {
    receives({{1, 10}});
    EXPECT_THAT(after(2).cpus, ElementsAre(2));
    EXPECT_THAT(after(1).cpus, ElementsAre(1));
    receives({{0, 10}, {1, 10}, {2, 10}});
    EXPECT_THAT(after(2).cpus, ElementsAre(1));
    EXPECT_THAT(after(1).cpus, IsEmpty());
}

TEST_F(AdoptedWorker, has_its_cpu_before_others_choose) {
    receives({{2, 10}});
    input_.workers[0].work = 0.6;
    auto other = input_.workers[0];
    other.worker.id.pid = 5;
    input_.workers.push_back(other);
    for (int window = 0; window < 10; ++window) {
        const auto placements = planner_.step(input_, now_ += 1s);
        EXPECT_THAT(placements[1].cpus, ElementsAre(2)) << window;
        EXPECT_NE(placements[0].cpus, placements[1].cpus);
    }
}

} // namespace
} // namespace teamo
