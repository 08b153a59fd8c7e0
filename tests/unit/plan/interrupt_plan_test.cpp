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

TEST(InterruptPlan, gives_each_of_8_ports_one_of_8_cpus) {
    const auto topology = flat(8);
    const auto plan = plan_interrupts({&topology, ports(8)});
    EXPECT_THAT(firsts(plan), ElementsAre(1, 2, 3, 4, 5, 6, 7, 0));
    EXPECT_THAT(plan.degraded, IsEmpty());
    EXPECT_THAT(plan.ports,
                Each(AllOf(Field(&PlacedPort::shares_with, IsEmpty()), Field(&PlacedPort::moves, false))));
    EXPECT_EQ(plan.ports[2].reason, "CPU 3: its own");
}

TEST(InterruptPlan, lets_2_of_8_ports_share_each_of_4_cpus_and_says_so) {
    const auto topology = flat(4);
    const auto plan = plan_interrupts({&topology, ports(8)});
    EXPECT_THAT(ports_by_cpu(plan), ElementsAre(Pair(0, 2), Pair(1, 2), Pair(2, 2), Pair(3, 2)));
    EXPECT_EQ(plan.degraded, "8 ports, 4 CPUs: 2 ports share each CPU");
    for (const auto& port : plan.ports)
        EXPECT_EQ(port.shares_with.size(), 1U);
    EXPECT_EQ(plan.ports[0].reason,
              "CPU 1, shared with " + plan.ports[0].shares_with[0] + ": 4 CPUs for 8 ports");
}

TEST(InterruptPlan, gives_a_second_team_the_cpus_that_the_first_left) {
    const auto topology = flat(8);
    const auto first = plan_interrupts({&topology, ports(4)});
    EXPECT_THAT(firsts(first), ElementsAre(1, 2, 3, 4));
    const auto second = plan_interrupts({&topology, ports(4, "eno"), {}, claims_of(first, "team0")});
    EXPECT_THAT(firsts(second), ElementsAre(5, 6, 7, 0));
    EXPECT_THAT(second.degraded, IsEmpty());
}

TEST(InterruptPlan, gives_several_queues_cpus_of_their_own) {
    const auto topology = flat(8);
    const auto plan = plan_interrupts({&topology, ports(2, "eth", 4)});
    EXPECT_THAT(ports_by_cpu(plan), testing::SizeIs(8));
    EXPECT_THAT(plan.degraded, IsEmpty());
}

} // namespace
} // namespace teamo
