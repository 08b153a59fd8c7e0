// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/interrupts/interrupt_settings.h"

#include <gmock/gmock.h>

namespace teamo {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using Kind = CpuSetting::Kind;

CpuTopology four_cpus() {
    CpuTopology topology;
    for (unsigned number = 0; number < 4; ++number)
        topology.cpus.push_back({.number = number, .core = number});
    return topology;
}

/// The vectors of an e1000e card.
PortInterrupts card() {
    return {.source = VectorSource::names,
            .queues = {{.queue = 0,
                        .vectors = {{.irq = 33, .name = "eth0-rx-0", .affinity = {0, 1, 2, 3}},
                                    {.irq = 34, .name = "eth0-tx-0", .affinity = {0, 1, 2, 3}}}}},
            .others = {{.irq = 35, .name = "eth0", .affinity = {0, 1, 2, 3}}},
            .receive_queues = 1,
            .transmit_queues = 1,
            .rps = {{}}};
}

TEST(InterruptSettings, puts_all_vectors_on_cpu_of_port) {
    const auto settings = interrupt_settings(card(), {2}, four_cpus(), {});
    EXPECT_THAT(settings, ElementsAre(Pair(CpuSetting{Kind::irq, 33}, CpuList{2}),
                                      Pair(CpuSetting{Kind::irq, 34}, CpuList{2}),
                                      Pair(CpuSetting{Kind::irq, 35}, CpuList{2})));
    EXPECT_THAT(interrupt_settings(card(), {}, four_cpus(), {}), IsEmpty());
}

TEST(InterruptSettings, leaves_out_managed_vectors) {
    auto managed = card();
    managed.queues[0].vectors[1].movable = false;
    EXPECT_THAT(interrupt_settings(managed, {2}, four_cpus(), {}),
                ElementsAre(Pair(CpuSetting{Kind::irq, 33}, CpuList{2}),
                            Pair(CpuSetting{Kind::irq, 35}, CpuList{2})));
}

TEST(InterruptSettings, includes_napi_threads) {
    auto threaded = card();
    threaded.queues[0].thread = NapiThread{.pid = 77, .affinity = {0, 1, 2, 3}};
    EXPECT_EQ(CpuList{2}, interrupt_settings(threaded, {2}, four_cpus(), {}).at({Kind::thread, 77}));
    threaded.queues[0].second_thread = NapiThread{.pid = 78, .affinity = {1}}; // igb
    EXPECT_EQ(CpuList{2}, interrupt_settings(threaded, {2}, four_cpus(), {}).at({Kind::thread, 78}));
}

TEST(InterruptSettings, spreads_vectors_of_several_queues) {
    auto card = PortInterrupts{.source = VectorSource::names, .xps = {{}, {}}, .rps = {{}, {}}};
    card.queues = {{.queue = 0, .vectors = {{.irq = 40}}}, {.queue = 1, .vectors = {{.irq = 41}}}};
    card.others = {{.irq = 42}};
    const auto settings = interrupt_settings(card, {3, 1}, four_cpus(), {});
    EXPECT_EQ(CpuList{3}, settings.at({Kind::irq, 40}));
    EXPECT_EQ(CpuList{1}, settings.at({Kind::irq, 41}));
    EXPECT_EQ(CpuList{3}, settings.at({Kind::irq, 42})); // a vector of no queue goes with the first
    // Every CPU sends by exactly one of them.
    auto all = settings.at({Kind::xps, 0});
    const auto& second = settings.at({Kind::xps, 1});
    EXPECT_THAT(all, testing::Contains(3U));
    EXPECT_THAT(second, testing::Contains(1U));
    all.insert(all.end(), second.begin(), second.end());
    EXPECT_THAT(all, testing::UnorderedElementsAre(0U, 1U, 2U, 3U));
    EXPECT_FALSE(settings.contains({Kind::rps, 0})); // only if configured
    EXPECT_TRUE(interrupt_settings(card, {3, 1}, four_cpus(), {.rps = true}).contains({Kind::rps, 0}));
    EXPECT_FALSE(interrupt_settings(card, {3, 1}, four_cpus(), {.xps = false}).contains({Kind::xps, 0}));
}

TEST(InterruptSettings, distinguishes_pending_from_misplaced) {
    EXPECT_EQ(AffinityState::ok, affinity_state({.affinity = {2}, .effective = {2}}, {2}));
    EXPECT_EQ(AffinityState::pending, affinity_state({.affinity = {2}, .effective = {0}}, {2}));
    EXPECT_EQ(AffinityState::misplaced, affinity_state({.affinity = {0, 1}, .effective = {0}}, {2}));
    EXPECT_EQ(AffinityState::ok,
              affinity_state({.affinity = {2}}, {2})); // the interrupt controller does not report it
}

TEST(InterruptSettings, finds_only_settings_that_differ) {
    const CpuSettings wanted{{{Kind::irq, 33}, {2}}, {{Kind::irq, 34}, {2}}, {{Kind::xps, 0}, {1}}};
    EXPECT_THAT(missing({{{Kind::irq, 33}, {0, 1}}, {{Kind::irq, 34}, {2}}}, wanted),
                ElementsAre(Pair(CpuSetting{Kind::irq, 33}, CpuList{2})));
    EXPECT_THAT(missing({}, wanted), IsEmpty());
}

} // namespace
} // namespace teamo
