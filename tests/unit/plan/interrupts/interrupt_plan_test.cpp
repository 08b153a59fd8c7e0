// SPDX-License-Identifier: LGPL-2.1-or-later
#include "interrupt_cases.h"

#include <gmock/gmock.h>

namespace teamo {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// ---- one queue each ----------------------------------------------------------------------------

TEST(InterruptPlan, gives_8_ports_a_cpu_each) {
    const auto topology = flat(8);
    const auto plan = plan_interrupts({&topology, ports(8)});
    EXPECT_THAT(firsts(plan), ElementsAre(1, 2, 3, 4, 5, 6, 7, 0));
    EXPECT_THAT(plan.degraded, IsEmpty());
    EXPECT_THAT(plan.ports,
                Each(AllOf(Field(&PlacedPort::shares_with, IsEmpty()), Field(&PlacedPort::moves, false))));
    EXPECT_EQ(plan.ports[2].reason, "CPU 3: not shared");
}

TEST(InterruptPlan, reports_8_ports_that_share_4_cpus) {
    const auto topology = flat(4);
    const auto plan = plan_interrupts({&topology, ports(8)});
    EXPECT_THAT(ports_by_cpu(plan), ElementsAre(Pair(0, 2), Pair(1, 2), Pair(2, 2), Pair(3, 2)));
    EXPECT_EQ(plan.degraded, "8 ports, 4 CPUs: 2 ports share each CPU");
    for (const auto& port : plan.ports)
        EXPECT_EQ(port.shares_with.size(), 1U);
    EXPECT_EQ(plan.ports[0].reason,
              "CPU 1, shared with " + plan.ports[0].shares_with[0] + ": 4 CPUs for 8 ports");
}

TEST(InterruptPlan, gives_second_team_the_remaining_cpus) {
    const auto topology = flat(8);
    const auto first = plan_interrupts({&topology, ports(4)});
    EXPECT_THAT(firsts(first), ElementsAre(1, 2, 3, 4));
    const auto second = plan_interrupts({&topology, ports(4, "eno"), {}, claims_of(first, "team0")});
    EXPECT_THAT(firsts(second), ElementsAre(5, 6, 7, 0));
    EXPECT_THAT(second.degraded, IsEmpty());
}

TEST(InterruptPlan, assigns_equal_ports_in_turn) {
    const auto topology = flat(4);
    EXPECT_THAT(firsts(plan_interrupts({&topology, ports(8)})), ElementsAre(1, 2, 3, 0, 1, 2, 3, 0));
}

TEST(InterruptPlan, names_claim_that_shares_cpu) {
    const auto topology = flat(3);
    const auto plan = plan_interrupts(
        {&topology, ports(3), {}, {{.owner = "team1 eth8", .cpu = 1}, {.owner = "team1 eth9", .cpu = 2}}});
    EXPECT_THAT(firsts(plan), ElementsAre(1, 2, 0));
    EXPECT_THAT(plan.ports[0].shares_with, ElementsAre("team1 eth8"));
    EXPECT_THAT(plan.ports[2].shares_with, IsEmpty());
    EXPECT_EQ(plan.ports[0].reason, "CPU 1, shared with team1 eth8: 3 CPUs for 3 ports and other teams");
    EXPECT_EQ(plan.degraded, "3 ports and 2 of other teams, 3 CPUs: up to 2 ports share a CPU");
}

TEST(InterruptPlan, shares_with_standby_claim_first) {
    const auto topology = flat(2);
    const auto plan = plan_interrupts(
        {&topology,
         ports(1),
         {},
         {{.owner = "team1 eth8", .cpu = 1}, {.owner = "team1 eth9", .cpu = 0, .standby = true}}});
    EXPECT_THAT(firsts(plan), ElementsAre(0));
}

TEST(InterruptPlan, lets_standby_ports_share_first) {
    const auto topology = flat(4);
    auto list = ports(6);
    list[0].standby = list[1].standby = list[2].standby = true;
    const auto plan = plan_interrupts({&topology, list});
    const std::set<unsigned> active{plan.ports[3].cpus[0], plan.ports[4].cpus[0], plan.ports[5].cpus[0]};
    EXPECT_THAT(active, testing::SizeIs(3));
}

TEST(InterruptPlan, lets_lightly_loaded_ports_share_first) {
    const auto topology = flat(3);
    auto list = ports(5);
    for (const auto heavy : {1U, 2U, 4U})
        list[heavy].load = 10;
    const auto plan = plan_interrupts({&topology, list});
    const std::set<unsigned> heavy{plan.ports[1].cpus[0], plan.ports[2].cpus[0], plan.ports[4].cpus[0]};
    EXPECT_THAT(heavy, testing::SizeIs(3));
    EXPECT_EQ(plan.degraded, "5 ports, 3 CPUs: up to 2 ports share a CPU");
}

// ---- which CPUs --------------------------------------------------------------------------------

TEST(InterruptPlan, avoids_isolated_cpus) {
    auto topology = flat(8);
    for (unsigned number = 4; number < 8; ++number)
        topology.cpus[number].isolated = true;
    EXPECT_THAT(firsts(plan_interrupts({&topology, ports(4)})), ElementsAre(1, 2, 3, 0));
    EXPECT_EQ(plan_interrupts({&topology, ports(8)}).degraded, "8 ports, 4 CPUs: 2 ports share each CPU");
}

TEST(InterruptPlan, uses_configured_cpus_even_if_isolated) {
    auto topology = flat(8);
    topology.cpus[5].isolated = true;
    topology.cpus[6].online = false;
    const auto plan = plan_interrupts({&topology, ports(2), {5, 6, 7}});
    EXPECT_THAT(firsts(plan), ElementsAre(5, 7));
    EXPECT_THAT(plan.degraded, IsEmpty());
}

TEST(InterruptPlan, reports_that_no_cpu_is_eligible) {
    auto topology = flat(2);
    const auto none = plan_interrupts({&topology, ports(1), {7}});
    EXPECT_THAT(none.ports[0].cpus, IsEmpty());
    EXPECT_EQ(none.ports[0].reason, "no CPU may serve interrupts");
    EXPECT_EQ(none.degraded, "no CPU may serve interrupts: none of 7 is online");
    for (auto& cpu : topology.cpus)
        cpu.isolated = true;
    EXPECT_EQ(plan_interrupts({&topology, ports(1)}).degraded,
              "no CPU may serve interrupts: all are isolated, or not in /proc/irq/default_smp_affinity");
    EXPECT_THAT(plan_interrupts({&topology, {}}).ports, IsEmpty());
}

/// As in the lab: 2 nodes of 2 cores of 2 threads; the siblings are CPU n and n + 4.
TEST(InterruptPlan, gives_4_ports_a_core_of_their_node) {
    const auto topology = server(2, 2, 2, 2);
    auto list = ports(4);
    for (std::size_t index = 0; index < 4; ++index)
        list[index].node = index < 2 ? 1 : 0;
    const auto plan = plan_interrupts({&topology, list});
    EXPECT_THAT(firsts(plan), ElementsAre(2, 3, 1, 4)); // 4 is a thread of core 0, and CPU 0 comes last
    EXPECT_EQ(plan.ports[0].reason, "CPU 2: on its NUMA node 1, a core of its own");
}

TEST(InterruptPlan, prefers_sibling_then_other_node_then_sharing) {
    const auto topology = server(2, 2, 2, 2);
    const auto plan = plan_interrupts({&topology, ports(5, "eth", 1, 0)});
    const auto by_cpu = ports_by_cpu(plan);
    EXPECT_THAT(by_cpu, ElementsAre(Pair(0, 1), Pair(1, 1), Pair(2, 1), Pair(4, 1), Pair(5, 1)));
    EXPECT_EQ(plan.ports[0].reason, "CPU 1: on its NUMA node 0, shares its core with eth3");
    EXPECT_EQ(plan.ports[1].reason, "CPU 2: not on its NUMA node 0, a core of its own");
}

TEST(InterruptPlan, prefers_fast_cores_then_slow_cores_then_siblings) {
    auto topology = server(1, 4, 2, 4); // 4 fast cores of 2 threads
    for (unsigned number = 8; number < 12; ++number)
        topology.cpus.push_back({.number = number, .core = number, .cache = 8, .node = 0, .capacity = 512});
    EXPECT_THAT(ports_by_cpu(plan_interrupts({&topology, ports(4)})),
                ElementsAre(Pair(1, 1), Pair(2, 1), Pair(3, 1), Pair(4, 1)));
    const auto plan = plan_interrupts({&topology, ports(6)});
    EXPECT_THAT(ports_by_cpu(plan),
                ElementsAre(Pair(1, 1), Pair(2, 1), Pair(3, 1), Pair(4, 1), Pair(8, 1), Pair(9, 1)));
    EXPECT_EQ(plan.ports[4].reason, "CPU 8: not shared, a slower CPU");
}

// ---- a server with 64 CPUs: 2 nodes, 16 cores each, 2 threads each, 8 cores behind a cache -----------

class InterruptPlan64Cpus : public testing::Test {
protected:
    CpuTopology topology = server(2, 16, 2, 8);

    unsigned cores_of(const PlacedPort& port) const {
        std::set<unsigned> cores;
        for (const auto cpu : port.cpus)
            cores.insert(topology.find(cpu)->core);
        return static_cast<unsigned>(cores.size());
    }
    std::set<unsigned> nodes_of(const PlacedPort& port) const {
        std::set<unsigned> nodes;
        for (const auto cpu : port.cpus)
            nodes.insert(topology.find(cpu)->node);
        return nodes;
    }
    std::set<unsigned> caches_of(const PlacedPort& port) const {
        std::set<unsigned> caches;
        for (const auto cpu : port.cpus)
            caches.insert(topology.find(cpu)->cache);
        return caches;
    }
};

TEST_F(InterruptPlan64Cpus, puts_ports_on_cores_of_their_nodes) {
    auto list = ports(8);
    for (std::size_t index = 0; index < 8; ++index)
        list[index].node = static_cast<int>(index % 2);
    EXPECT_THAT(firsts(plan_interrupts({&topology, list})), ElementsAre(1, 16, 2, 17, 3, 18, 4, 19));
}

TEST_F(InterruptPlan64Cpus, puts_8_ports_of_one_node_on_its_cores) {
    EXPECT_THAT(firsts(plan_interrupts({&topology, ports(8, "eth", 1, 0)})),
                ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
}

TEST_F(InterruptPlan64Cpus, gives_4_ports_with_8_queues_a_cache_each) {
    auto list = ports(4, "eth", 8);
    for (std::size_t index = 0; index < 4; ++index)
        list[index].node = static_cast<int>(index / 2);
    const auto plan = plan_interrupts({&topology, list});
    std::set<unsigned> caches;
    for (const auto& port : plan.ports) {
        EXPECT_EQ(cores_of(port), 8U);
        EXPECT_THAT(caches_of(port), testing::SizeIs(1)) << port.reason;
        caches.merge(caches_of(port));
    }
    EXPECT_THAT(caches, testing::SizeIs(4));
    EXPECT_THAT(nodes_of(plan.ports[0]), ElementsAre(0));
    EXPECT_THAT(nodes_of(plan.ports[3]), ElementsAre(1));
    EXPECT_EQ(plan.ports[1].reason, "CPUs 8-15: on its NUMA node 0, cores of its own");
    EXPECT_THAT(plan.degraded, IsEmpty());
}

TEST_F(InterruptPlan64Cpus, keeps_queues_near_when_cores_run_out) {
    const auto plan = plan_interrupts({&topology, ports(4, "eth", 8, 0)});
    for (const auto& port : plan.ports) {
        EXPECT_EQ(cores_of(port), 4U);
        EXPECT_THAT(cpus_of(port), testing::SizeIs(4));
        EXPECT_THAT(nodes_of(port), ElementsAre(0));
        EXPECT_THAT(caches_of(port), testing::SizeIs(1));
    }
}

TEST_F(InterruptPlan64Cpus, uses_other_node_if_node_is_isolated) {
    for (auto& cpu : topology.cpus)
        cpu.isolated = cpu.node == 1;
    const auto plan = plan_interrupts({&topology, ports(4, "eth", 4, 1)});
    for (const auto& port : plan.ports) {
        EXPECT_EQ(cores_of(port), 4U);
        EXPECT_THAT(nodes_of(port), ElementsAre(0));
        EXPECT_THAT(caches_of(port), testing::SizeIs(1));
    }
}

TEST_F(InterruptPlan64Cpus, avoids_isolated_second_threads) {
    for (unsigned number = 32; number < 64; ++number)
        topology.cpus[number].isolated = true;
    const auto plan = plan_interrupts({&topology, ports(33)});
    EXPECT_EQ(plan.degraded, "33 ports, 32 CPUs: up to 2 ports share a CPU");
    EXPECT_THAT(ports_by_cpu(plan), testing::SizeIs(32));
    EXPECT_LT(ports_by_cpu(plan).rbegin()->first, 32U);
}

TEST_F(InterruptPlan64Cpus, uses_siblings_before_sharing) {
    const auto plan = plan_interrupts({&topology, ports(33)});
    EXPECT_THAT(plan.degraded, IsEmpty());
    EXPECT_THAT(ports_by_cpu(plan), testing::SizeIs(33));
}

// ---- several queues ----------------------------------------------------------------------------

TEST(InterruptPlan, gives_2_ports_with_4_queues_4_cpus_each) {
    const auto topology = flat(8);
    const auto plan = plan_interrupts({&topology, ports(2, "eth", 4)});
    EXPECT_THAT(cpus_of(plan.ports[0]), testing::SizeIs(4));
    EXPECT_THAT(ports_by_cpu(plan), testing::SizeIs(8));
    EXPECT_THAT(plan.degraded, IsEmpty());
}

TEST(InterruptPlan, gives_busier_port_more_cpus) {
    const auto topology = flat(8);
    auto list = ports(3, "eth", 4);
    list[2].load = 6;
    const auto plan = plan_interrupts({&topology, list});
    EXPECT_THAT(cpus_of(plan.ports[0]), testing::SizeIs(2));
    EXPECT_THAT(cpus_of(plan.ports[1]), testing::SizeIs(2));
    EXPECT_THAT(cpus_of(plan.ports[2]), testing::SizeIs(4));
}

TEST(InterruptPlan, gives_standby_port_one_cpu) {
    const auto topology = flat(8);
    auto list = ports(2, "eth", 4);
    list[1].standby = true;
    const auto plan = plan_interrupts({&topology, list});
    EXPECT_THAT(cpus_of(plan.ports[0]), testing::SizeIs(4));
    EXPECT_THAT(cpus_of(plan.ports[1]), testing::SizeIs(1));
}

TEST(InterruptPlan, puts_all_queues_on_one_cpu_if_cpus_run_out) {
    const auto topology = flat(2);
    const auto plan = plan_interrupts({&topology, ports(2, "eth", 4)});
    EXPECT_THAT(plan.ports[0].cpus, ElementsAre(1, 1, 1, 1));
    EXPECT_THAT(plan.ports[1].cpus, ElementsAre(0, 0, 0, 0));
}

TEST(InterruptPlan, returns_cpus_that_second_team_needs) {
    const auto topology = flat(8);
    const auto first = plan_interrupts({&topology, ports(4, "eth", 4)});
    EXPECT_THAT(ports_by_cpu(first), testing::SizeIs(8));
    const auto second = plan_interrupts({&topology, ports(4, "eno", 4), {}, claims_of(first, "team0")});
    EXPECT_NE(second.degraded, "");
    const auto yielding =
        plan_interrupts({&topology, after(first, ports(4, "eth", 4)), {}, claims_of(second, "team1")});
    EXPECT_THAT(yielding.degraded, IsEmpty());
    const auto settled =
        plan_interrupts({&topology, after(second, ports(4, "eno", 4)), {}, claims_of(yielding, "team0")});
    EXPECT_THAT(settled.degraded, IsEmpty());
    EXPECT_THAT(moved_ports(settled), IsEmpty());
}

TEST(InterruptPlan, gives_no_second_thread_to_additional_queue) {
    const auto topology = server(1, 4, 2, 4);
    const auto plan = plan_interrupts({&topology, ports(2, "eth", 8)});
    EXPECT_THAT(ports_by_cpu(plan), ElementsAre(Pair(1, 1), Pair(2, 1), Pair(3, 1), Pair(4, 1)));
}

// ---- queues that cannot be moved ---------------------------------------------------------------

TEST(InterruptPlan, plans_around_unmovable_queue) {
    const auto topology = flat(4);
    auto list = ports(4);
    list[3].now = {1};
    list[3].fixed = {1};
    const auto plan = plan_interrupts({&topology, list});
    EXPECT_THAT(firsts(plan), ElementsAre(2, 3, 0, 1));
    EXPECT_EQ(plan.ports[3].reason, "the kernel keeps it on CPU 1: not shared");
    EXPECT_FALSE(plan.ports[3].moves);
}

TEST(InterruptPlan, counts_cpu_of_unmovable_queue_as_own) {
    const auto topology = flat(4);
    auto list = ports(2, "eth", 2);
    list[0].fixed = {2, std::nullopt};
    const auto plan = plan_interrupts({&topology, list});
    EXPECT_THAT(plan.ports[0].cpus, ElementsAre(2, testing::Ne(2)));
    EXPECT_THAT(ports_by_cpu(plan), testing::SizeIs(4));
    // If CPUs are short, its other queue uses the same CPU.
    const auto crowded = plan_interrupts({&topology, [&] {
                                              auto more = ports(4, "eth", 2);
                                              more[0].fixed = {2, std::nullopt};
                                              return more;
                                          }()});
    EXPECT_THAT(crowded.ports[0].cpus, ElementsAre(2, 2));
    EXPECT_THAT(crowded.degraded, IsEmpty());
}

TEST(InterruptPlan, avoids_isolated_cpu_of_unmovable_queue) {
    auto topology = flat(4);
    topology.cpus[3].isolated = true;
    auto list = ports(1, "eth", 2);
    list[0].fixed = {3, std::nullopt};
    EXPECT_THAT(plan_interrupts({&topology, list}).ports[0].cpus, ElementsAre(3, 1));
}

TEST(InterruptPlan, reports_ports_kept_together_by_kernel) {
    const auto topology = flat(4);
    auto list = ports(2);
    list[0].fixed = list[1].fixed = {3};
    const auto plan = plan_interrupts({&topology, list});
    EXPECT_THAT(firsts(plan), ElementsAre(3, 3));
    EXPECT_EQ(plan.degraded, "2 ports, 4 CPUs: the kernel keeps eth0 and eth1 on shared CPUs");
}

} // namespace
} // namespace teamo
