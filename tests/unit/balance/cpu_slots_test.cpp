// SPDX-License-Identifier: LGPL-2.1-or-later
#include "balance/buckets.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace teamo {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;

CpuList first(unsigned count) {
    CpuList cpus(count);
    std::iota(cpus.begin(), cpus.end(), 0U);
    return cpus;
}

ServedPort served(unsigned slot, CpuList cpus = {}) {
    return {Slot{static_cast<std::uint8_t>(slot)}, std::move(cpus)};
}

std::vector<unsigned> slots(const std::vector<ServedPort>& ports, const CpuList& online) {
    std::vector<unsigned> list;
    for (const auto slot : cpu_slots(ports, online))
        list.push_back(slot.value);
    return list;
}

TEST(CpuSlots, gives_cpu_the_port_that_it_serves) {
    EXPECT_THAT(slots({served(1, {3}), served(2, {0}), served(3, {1}), served(4, {2})}, first(4)),
                ElementsAre(2, 3, 4, 1));
    EXPECT_THAT(slots({served(1, {2, 3}), served(2, {0, 1})}, first(4)), ElementsAre(2, 2, 1, 1));
}

TEST(CpuSlots, deals_other_cpus_evenly_and_nearest_first) {
    EXPECT_THAT(slots({served(1, {0}), served(2, {4})}, first(8)), ElementsAre(1, 1, 1, 2, 2, 2, 2, 1));
    EXPECT_THAT(slots({served(1, {7}), served(2, {6})}, first(8)), ElementsAre(1, 1, 1, 2, 2, 2, 2, 1));
}

TEST(CpuSlots, gives_no_more_to_port_with_many_interrupt_cpus) {
    EXPECT_THAT(slots({served(1, {0, 1, 2, 3}), served(2, {4})}, first(8)),
                ElementsAre(1, 1, 1, 1, 2, 2, 2, 2));
    EXPECT_THAT(slots({served(1, {0, 1, 2, 3, 4, 5}), served(2, {6})}, first(8)),
                ElementsAre(1, 1, 1, 1, 1, 1, 2, 2));
}

TEST(CpuSlots, spreads_cpus_that_serve_several_ports) {
    EXPECT_THAT(slots({served(1, {0, 1}), served(2, {0, 1})}, first(2)), ElementsAre(1, 2));
    EXPECT_THAT(slots({served(1, {0, 1}), served(2, {0})}, first(2)), ElementsAre(2, 1));
    EXPECT_THAT(
        slots({served(1, first(8)), served(2, first(8)), served(3, first(8)), served(4, first(8))}, first(8)),
        ElementsAre(1, 2, 3, 4, 1, 2, 3, 4));
}

TEST(CpuSlots, gives_port_without_cpu_one_that_serves_none) {
    EXPECT_THAT(slots({served(1, {0}), served(2, {0}), served(3, {0})}, first(3)), ElementsAre(1, 2, 3));
}

TEST(CpuSlots, deals_in_turn_to_ports_without_interrupts) {
    EXPECT_THAT(slots({served(1), served(2)}, first(5)), ElementsAre(1, 2, 1, 2, 1));
    EXPECT_THAT(slots({served(1, {1}), served(5)}, first(4)), ElementsAre(1, 1, 5, 5));
}

TEST(CpuSlots, has_no_slot_for_offline_cpu_or_without_ports) {
    EXPECT_THAT(slots({served(1), served(2)}, {0, 3, 5}), ElementsAre(1, 0, 0, 2, 0, 1));
    EXPECT_THAT(slots({served(1, {4}), served(2, {1})}, {0, 1}), ElementsAre(1, 2));
    EXPECT_THAT(slots({}, first(3)), ElementsAre(0, 0, 0));
    EXPECT_THAT(slots({served(1)}, {}), IsEmpty());
}

TEST(CpuSlots, lists_cpus_of_port) {
    const auto dealt = cpu_slots(std::vector{served(1), served(2)}, first(4));
    EXPECT_THAT(cpus_of(dealt, Slot{1}), ElementsAre(0, 2));
    EXPECT_THAT(cpus_of(dealt, Slot{3}), IsEmpty());
}

/// For any ports: every CPU has a port, a CPU that serves one port has that port, the others are dealt
/// evenly, and the order of the ports does not matter.
TEST(CpuSlots, holds_properties_for_random_ports) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    for (int round = 0; round < 2000; ++round) {
        const auto cpus = static_cast<unsigned>(1 + random() % 24);
        std::vector<ServedPort> ports;
        for (unsigned slot = 1; slot <= 1 + round % 8U; ++slot) {
            CpuList own;
            for (unsigned cpu = 0; cpu < cpus; ++cpu)
                if (random() % 8 < random() % 3) own.push_back(cpu);
            ports.push_back(served(slot, own));
        }
        const auto dealt = slots(ports, first(cpus));
        std::vector<unsigned> has(max_ports + 1), served(max_ports + 1);
        for (unsigned cpu = 0; cpu < cpus; ++cpu) {
            std::vector<unsigned> servers;
            for (const auto& one : ports)
                if (std::ranges::count(one.interrupt_cpus, cpu) != 0) servers.push_back(one.slot.value);
            ASSERT_GE(dealt[cpu], 1U);
            ASSERT_LE(dealt[cpu], ports.size());
            ++has[dealt[cpu]];
            if (servers.empty()) continue;
            ASSERT_NE(std::ranges::find(servers, dealt[cpu]), servers.end()) << cpu;
            ++served[dealt[cpu]];
        }
        // No port was dealt a CPU while another had two fewer.
        for (unsigned one = 1; one <= ports.size(); ++one)
            for (unsigned other = 1; other <= ports.size(); ++other)
                if (has[one] > served[one]) {
                    ASSERT_LE(has[one], has[other] + 1);
                }
        std::ranges::shuffle(ports, random);
        ASSERT_THAT(slots(ports, first(cpus)), ElementsAreArray(dealt));
    }
}

} // namespace
} // namespace teamo
