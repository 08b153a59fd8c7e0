// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/interrupts/interrupt_settings.h"

#include <gtest/gtest.h>

namespace teamo {
namespace {

TEST(AffinityDrift, does_not_contest_changes_by_kernel) {
    EXPECT_TRUE(cause_of({.cpus_changed = true}).kernel);
    EXPECT_TRUE(cause_of({.came_up = true}).kernel);
    EXPECT_FALSE(cause_of({.as_hint = true}).kernel) << "irqbalance with hintpolicy=exact repeats it";
    EXPECT_FALSE(cause_of({}).kernel);
    EXPECT_FALSE(cause_of({.irqbalance = "irqbalance (pid 812)"}).kernel);
}

TEST(AffinityDrift, names_most_certain_cause) {
    DriftFacts facts{.cpus_changed = true,
                     .came_up = true,
                     .as_hint = true,
                     .irqbalance = "irqbalance (pid 812)",
                     .udev = "IRQAffinityPolicy=spread in 10-x.link"};
    EXPECT_EQ("by the kernel, because a CPU went offline or came online", cause_of(facts).text);
    facts.cpus_changed = false;
    EXPECT_EQ("by its driver, which made new vectors", cause_of(facts).text);
    facts.came_up = false;
    EXPECT_EQ("by its driver or another program, to its affinity_hint", cause_of(facts).text);
    facts.as_hint = false;
    EXPECT_EQ("probably by irqbalance (pid 812)", cause_of(facts).text);
    facts.irqbalance.clear();
    EXPECT_EQ("probably by systemd-udevd (IRQAffinityPolicy=spread in 10-x.link)", cause_of(facts).text);
    EXPECT_EQ("by another program", cause_of({}).text);
}

} // namespace
} // namespace teamo
