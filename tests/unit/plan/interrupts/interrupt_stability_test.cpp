// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Interrupts move only for a gain, and only those that must.
#include "interrupt_cases.h"

#include <gmock/gmock.h>

namespace teamo {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

InterruptPlan plan(const CpuTopology& topology, const std::vector<PlannedPort>& list) {
    return plan_interrupts({&topology, list});
}

TEST(InterruptStability, keeps_placement_that_is_as_good) {
    const auto topology = flat(8);
    auto list = ports(3);
    list[0].now = {6};
    list[1].now = {0};
    const auto planned = plan(topology, list);
    EXPECT_THAT(firsts(planned), ElementsAre(6, 0, 1));
    EXPECT_EQ(planned.ports[0].reason, "stays on CPU 6: not shared");
    EXPECT_THAT(moved_ports(planned), IsEmpty());
}

TEST(InterruptStability, moves_one_of_two_ports_on_same_cpu) {
    const auto topology = flat(4);
    auto list = ports(2);
    list[0].now = list[1].now = {3};
    EXPECT_THAT(moved_ports(plan(topology, list)), testing::SizeIs(1));
}

TEST(InterruptStability, swaps_ports_to_reach_their_nodes) {
    const auto topology = server(2, 2, 1, 2);
    auto list = ports(3, "eth", 1, 0);
    list[2].node = 1;
    list[0].now = {1};
    list[1].now = {2};
    list[2].now = {0};
    EXPECT_THAT(firsts(plan(topology, list)), ElementsAre(1, 0, 2)); // eth1 and eth2 swap
}

TEST(InterruptStability, moves_nothing_when_port_leaves_and_returns) {
    const auto topology = flat(8);
    const auto all = ports(8);
    const auto first = plan(topology, all);
    auto left = after(first, all);
    left.erase(left.begin() + 3);
    const auto without = plan(topology, left);
    EXPECT_THAT(moved_ports(without), IsEmpty());
    auto back = after(without, left);
    back.push_back(all[3]); // its interrupts have no CPU yet
    const auto again = plan(topology, back);
    EXPECT_THAT(moved_ports(again), IsEmpty());
    EXPECT_EQ(again.ports.back().cpus, first.ports[3].cpus);
}

TEST(InterruptStability, moves_only_port_of_offline_cpu) {
    auto topology = flat(8);
    const auto first = plan(topology, ports(6));
    topology.cpus[3].online = false; // has eth2
    const auto without = plan(topology, after(first, ports(6)));
    EXPECT_THAT(moved_ports(without), ElementsAre("eth2"));
    topology.cpus[3].online = true;
    EXPECT_THAT(moved_ports(plan(topology, after(without, ports(6)))), IsEmpty());
}

TEST(InterruptStability, moves_only_sharing_port_when_cpu_returns) {
    auto topology = flat(4);
    topology.cpus[2].online = false;
    const auto crowded = plan(topology, ports(4));
    topology.cpus[2].online = true;
    const auto eased = plan(topology, after(crowded, ports(4)));
    EXPECT_THAT(moved_ports(eased), testing::SizeIs(1));
    EXPECT_THAT(eased.degraded, IsEmpty());
}

TEST(InterruptStability, gives_returning_port_its_share) {
    const auto topology = flat(9);
    const auto all = ports(3, "eth", 4);
    const auto first = plan(topology, all);
    auto two = after(first, all);
    two.pop_back();
    const auto grown = plan(topology, two);
    EXPECT_THAT(cpus_of(grown.ports[0]), testing::SizeIs(4));
    auto back = after(grown, two);
    back.push_back(all[2]);
    const auto again = plan(topology, back);
    for (std::size_t index = 0; index < 2; ++index) {
        EXPECT_THAT(cpus_of(again.ports[index]), testing::SizeIs(3));
        unsigned moved = 0;
        for (std::size_t queue = 0; queue < 4; ++queue)
            moved += again.ports[index].cpus[queue] != grown.ports[index].cpus[queue];
        EXPECT_EQ(moved, 1U) << "only the queue whose CPU was given away";
    }
}

TEST(InterruptStability, keeps_cpu_counts_while_loads_vary) {
    const auto topology = flat(6);
    auto list = ports(2, "eth", 4);
    list = after(plan(topology, list), list); // 3 each
    list[0].load = 1.7;                       // 0.57 per CPU of eth0; 0.5 per CPU of eth1 with one CPU less
    EXPECT_THAT(moved_ports(plan(topology, list)), IsEmpty());
    list[0].load = 3;
    EXPECT_THAT(cpus_of(plan(topology, list).ports[0]), testing::SizeIs(4));
}

TEST(InterruptStability, adds_cpu_behind_same_cache) {
    const auto topology = server(1, 12, 1, 4);
    auto list = ports(1, "eth", 4);
    list[0].now = {8, 9, 10, 10};
    EXPECT_THAT(cpus_of(plan(topology, list).ports[0]), ElementsAre(8, 9, 10, 11));
}

TEST(InterruptStability, keeps_sharing_ports_while_loads_vary) {
    const auto topology = flat(2);
    auto list = ports(3);
    list = after(plan(topology, list), list);
    list[0].load = 1.1;
    list[1].load = 0.9;
    EXPECT_THAT(moved_ports(plan(topology, list)), IsEmpty());
}

TEST(InterruptStability, moves_queue_within_port_only_for_20_percent) {
    const auto topology = flat(2);
    auto list = ports(1, "eth", 4);
    list[0].now = {0, 0, 1, 1};
    list[0].loads = {5, 5, 5, 4};
    EXPECT_THAT(moved_ports(plan(topology, list)), IsEmpty());
    list[0].loads = {8, 8, 1, 1};
    const auto dealt = plan(topology, list);
    EXPECT_NE(dealt.ports[0].cpus[0], dealt.ports[0].cpus[1]);
}

TEST(InterruptStability, gives_a_cpu_to_a_port_that_uses_it) {
    const auto topology = flat(3);
    auto list = ports(2, "eth", 2);
    list[0].now = {0, 0};
    list[0].loads = {2, 0}; // stays as it is, also with two CPUs
    list[0].load = 1.1;
    const auto planned = plan(topology, list);
    EXPECT_THAT(cpus_of(planned.ports[0]), ElementsAre(0));
    EXPECT_THAT(cpus_of(planned.ports[1]), ElementsAre(1, 2));
}

// ---- random inventories ------------------------------------------------------------------------

struct Inventory {
    CpuTopology topology;
    InterruptPlanInput input;

    explicit Inventory(Random& random) : topology(random_topology(random, 1 + random.below(16))) {
        const auto cpus = static_cast<unsigned>(topology.cpus.size());
        for (auto& cpu : topology.cpus) {
            cpu.online = random.chance(0.9);
            cpu.isolated = random.chance(0.15);
        }
        for (auto count = random.below(4) == 0 ? random.below(4) : 0; count > 0; --count)
            input.claims.push_back({.owner = "team1 eth" + std::to_string(count),
                                    .cpu = random.below(cpus),
                                    .standby = random.chance(0.2)});
        for (unsigned number = 1 + random.below(8); number > 0; --number)
            input.ports.push_back(port(random, number, cpus));
    }

    static PlannedPort port(Random& random, unsigned number, unsigned cpus) {
        PlannedPort port{.name = "eth" + std::to_string(number + 5),
                         .node = static_cast<int>(random.below(4)) - 1,
                         .queues = 1 + random.below(4),
                         .now = {}};
        port.load = random.below(20);
        port.standby = random.chance(0.2);
        for (unsigned queue = 0; queue < port.queues; ++queue) {
            if (number % 2 == 0) port.now.push_back(random.below(cpus));
            if (number % 3 == 0) port.loads.push_back(random.below(9));
            if (number % 4 == 0)
                port.fixed.push_back(random.chance(0.3) ? std::optional(random.below(cpus)) : std::nullopt);
        }
        return port;
    }

    InterruptPlan plan() {
        input.topology = &topology;
        return plan_interrupts(input);
    }
};

TEST(InterruptStability, repeats_plan_once_applied) {
    const auto seed = seed_of_test();
    for (unsigned round = 0; round < 2000; ++round) {
        Random random(seed + round);
        Inventory inventory(random);
        const auto first = inventory.plan();
        inventory.input.ports = after(first, inventory.input.ports);
        const auto second = inventory.plan();
        for (std::size_t index = 0; index < first.ports.size(); ++index)
            ASSERT_EQ(second.ports[index].cpus, first.ports[index].cpus) << "TEAMO_SEED=" << seed + round;
    }
}

TEST(InterruptStability, does_not_depend_on_order_of_ports) {
    const auto seed = seed_of_test();
    for (unsigned round = 0; round < 500; ++round) {
        Random random(seed + round);
        Inventory inventory(random);
        const auto first = inventory.plan();
        std::ranges::reverse(inventory.input.ports);
        auto& ports = inventory.input.ports;
        std::rotate(ports.begin(), ports.begin() + 1, ports.end());
        for (const auto& port : inventory.plan().ports) {
            const auto same = std::ranges::find(first.ports, port.name, &PlacedPort::name);
            ASSERT_EQ(port.cpus, same->cpus) << "TEAMO_SEED=" << seed + round;
            ASSERT_EQ(port.reason, same->reason);
        }
    }
}

TEST(InterruptStability, stays_on_eligible_cpus) {
    const auto seed = seed_of_test();
    for (unsigned round = 0; round < 500; ++round) {
        Random random(seed + round);
        Inventory inventory(random);
        const auto planned = inventory.plan();
        for (std::size_t index = 0; index < planned.ports.size(); ++index) {
            const auto& port = inventory.input.ports[index];
            const auto& cpus = planned.ports[index].cpus;
            ASSERT_TRUE(cpus.size() == port.queues || cpus.empty());
            for (std::size_t queue = 0; queue < cpus.size(); ++queue) {
                const auto& cpu = *inventory.topology.find(cpus[queue]);
                const auto fixed = queue < port.fixed.size() ? port.fixed[queue] : std::nullopt;
                ASSERT_TRUE(fixed ? *fixed == cpu.number : cpu.online && !cpu.isolated)
                    << "TEAMO_SEED=" << seed + round;
            }
            ASSERT_EQ(planned.ports[index].reason.find('\n'), std::string::npos);
        }
    }
}

} // namespace
} // namespace teamo
