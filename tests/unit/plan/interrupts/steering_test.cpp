// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/interrupts/interrupt_settings.h"

#include "interrupt_cases.h"

#include <gmock/gmock.h>

namespace teamo {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<CpuList> xps(const CpuTopology& topology, const std::vector<unsigned>& queue_cpus) {
    return plan_xps(topology, queue_cpus);
}
std::vector<CpuList> rps(const CpuTopology& topology, const std::vector<unsigned>& queue_cpus) {
    return plan_rps(topology, queue_cpus);
}

TEST(PacketSteering, xps_gives_queue_its_cpu_and_sibling) {
    const auto topology = server(1, 4, 2, 4); // siblings are CPU n and n + 4
    EXPECT_THAT(xps(topology, {0, 1, 2, 3}),
                ElementsAre(ElementsAre(0, 4), ElementsAre(1, 5), ElementsAre(2, 6), ElementsAre(3, 7)));
    EXPECT_THAT(xps(topology, {5, 2}), ElementsAre(ElementsAre(0, 1, 4, 5), ElementsAre(2, 3, 6, 7)));
}

TEST(PacketSteering, xps_prefers_cache_then_node_then_nearer_node) {
    auto topology = server(3, 4, 1, 2);
    topology.distances = {{10, 12, 20}, {12, 10, 20}, {20, 12, 10}};
    EXPECT_THAT(xps(topology, {0, 2}), // node 1 and 2 have no queue
                ElementsAre(ElementsAre(0, 1, 4, 6, 8, 10), ElementsAre(2, 3, 5, 7, 9, 11)));
    EXPECT_THAT(xps(topology, {0, 4}), // node 2 is nearer to node 1
                ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(4, 5, 6, 7, 8, 9, 10, 11)));
}

TEST(PacketSteering, xps_balances_queues_on_one_cpu) {
    EXPECT_THAT(xps(flat(8), {3, 3}), ElementsAre(testing::SizeIs(4), testing::SizeIs(4)));
    EXPECT_THAT(xps(flat(8), {}), IsEmpty());
}

TEST(PacketSteering, xps_includes_isolated_but_no_offline_cpus) {
    auto topology = flat(4);
    topology.cpus[2].isolated = true;
    topology.cpus[3].online = false;
    EXPECT_THAT(xps(topology, {0, 1}), ElementsAre(ElementsAre(0, 2), ElementsAre(1)));
    EXPECT_THAT(xps(topology, {7, 7}),
                ElementsAre(ElementsAre(0, 2), ElementsAre(1))); // CPU 7 does not exist
}

TEST(PacketSteering, xps_includes_every_online_cpu_once) {
    Random random(seed_of_test());
    for (unsigned round = 0; round < 300; ++round) {
        auto topology = random_topology(random, 1 + random.below(20));
        CpuList online, all;
        for (auto& cpu : topology.cpus) {
            cpu.online = random.chance(0.8);
            cpu.isolated = random.chance(0.3);
            if (cpu.online) online.push_back(cpu.number);
        }
        std::vector<unsigned> queue_cpus(1 + random.below(6));
        for (auto& cpu : queue_cpus)
            cpu = random.below(20);
        for (const auto& cpus : plan_xps(topology, queue_cpus))
            all.insert(all.end(), cpus.begin(), cpus.end());
        std::ranges::sort(all);
        ASSERT_EQ(all, online);
    }
}

TEST(PacketSteering, rps_uses_cpus_of_same_cache_unless_isolated) {
    auto topology = server(1, 8, 1, 4);
    topology.cpus[1].isolated = true;
    topology.cpus[7].online = false;
    EXPECT_THAT(rps(topology, {0, 5, 3}),
                ElementsAre(ElementsAre(0, 2, 3), ElementsAre(4, 5, 6), ElementsAre(0, 2, 3)));
    for (auto& cpu : topology.cpus)
        cpu.isolated = true;
    EXPECT_THAT(rps(topology, {0, 99}), Each(IsEmpty()));
}

} // namespace
} // namespace teamo
