// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/report/state_tables.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace teamo::ctl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Kind = CpuSetting::Kind;

PortInterruptStatus port(const std::string& name, unsigned irq, unsigned cpu) {
    PortInterruptStatus status{.name = name};
    status.now.source = VectorSource::names;
    status.now.queues = {
        {.queue = 0,
         .vectors = {
             {.irq = irq, .name = name + "-rx-0", .affinity = {cpu}, .effective = {cpu}, .count = 12}}}};
    status.now.others = {{.irq = irq + 1, .name = name, .affinity = {cpu}, .effective = {cpu}}};
    status.cpus = {cpu};
    status.reason = fmt::format("CPU {}: a core of its own", cpu);
    status.wanted = {{{Kind::irq, irq}, {cpu}}, {{Kind::irq, irq + 1}, {cpu}}};
    return status;
}

InterruptStatus two() { return {.ports = {port("eth0", 33, 2), port("eth1", 36, 3)}}; }

TEST(Interrupts, are_shown_in_a_table) {
    EXPECT_EQ(interrupts_text(two()),
              "port  queues  CPU  arrive at  sent from  interrupts  repaired  state\n"
              "eth0       1    2          2          -          12         0     ok\n"
              "eth1       1    3          3          -          12         0     ok\n");
}

TEST(Interrupts, have_remarks_worst_first) {
    auto status = two();
    status.ports[0].drift = "interrupt 33 (eth0-rx-0) went to CPU 0 by another program";
    status.ports[1].drift = "interrupt 36 (eth1-rx-0) went to CPU 0 by irqbalance (pid 812) probably";
    status.ports[1].contested = true;
    status.degraded = "9 ports, 8 CPUs: 2 share";
    EXPECT_THAT(
        interrupt_remarks(status),
        ElementsAre(
            "eth1: interrupt 36 (eth1-rx-0) went to CPU 0 by irqbalance (pid 812) probably, repeatedly; the "
            "daemon gave up",
            "9 ports, 8 CPUs: 2 share",
            "eth0: interrupt 33 (eth0-rx-0) went to CPU 0 by another program, and was set back"));
    EXPECT_THAT(interrupts_text(status), HasSubstr("contested"));
}

TEST(Interrupts, distinguish_pending_from_misplaced) {
    auto status = two();
    status.ports[0].now.queues[0].vectors[0].effective = {0};
    status.ports[1].now.queues[0].vectors[0].affinity = {0, 1};
    const auto text = interrupts_text(status);
    EXPECT_THAT(text, HasSubstr("1 pending\n"));
    EXPECT_THAT(text, HasSubstr("misplaced\n"));
}

TEST(Interrupts, have_one_line_for_each_port_in_a_plan) {
    auto status = two();
    status.ports[1].moves = true;
    status.ports.push_back({.name = "veth0"});
    EXPECT_EQ(interrupt_plan_text(status), "eth0: CPU 2: a core of its own\n"
                                           "eth1: CPU 3: a core of its own (from another CPU)\n"
                                           "veth0: has no interrupts\n");
}

} // namespace
} // namespace teamo::ctl
