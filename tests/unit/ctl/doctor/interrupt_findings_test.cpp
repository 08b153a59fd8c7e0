// SPDX-License-Identifier: LGPL-2.1-or-later
#include "unit/ctl/support.h"
#include "json/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace teamo::ctl {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

PortInterruptStatus port_on(const std::string& name, unsigned irq, unsigned cpu) {
    PortInterruptStatus status{.name = name};
    status.now.queues = {
        {.queue = 0, .vectors = {{.irq = irq, .name = name, .affinity = {cpu}, .effective = {cpu}}}}};
    status.cpus = {cpu};
    status.wanted = {{{CpuSetting::Kind::irq, irq}, {cpu}}};
    return status;
}

InterruptStatus two_ports() { return {.ports = {port_on("eth1", 33, 2), port_on("eth2", 36, 3)}}; }

Readings with(const InterruptStatus& status) {
    auto readings = good_readings();
    readings.state.interrupts = status;
    return readings;
}

std::string found_in(const Readings& readings) { return text_of("team0", interrupt_findings(readings)); }
std::string found_in(const InterruptStatus& status) { return found_in(with(status)); }

constexpr auto nothing_found = "team0: nothing is wrong\n";

TEST(InterruptFindings, are_empty_if_each_port_has_a_cpu) {
    EXPECT_EQ(found_in(two_ports()), nothing_found);
    EXPECT_THAT(all_findings(with(two_ports())), IsEmpty());
    EXPECT_EQ(found_in(good_readings()), nothing_found) << "an older daemon";
}

TEST(InterruptFindings, name_the_program_that_keeps_moving_interrupts) {
    auto status = two_ports();
    status.ports[1].drift = "interrupt 36 (eth2) went to CPU 0 by irqbalance (pid 812) probably";
    EXPECT_EQ(found_in(status), nothing_found) << "repaired";
    status.ports[1].contested = true;
    EXPECT_EQ(
        found_in(status),
        "warning: eth2: interrupt 36 (eth2) went to CPU 0 by irqbalance (pid 812) probably, "
        "repeatedly; the daemon gave up\n"
        "    configure that program to leave this interrupt alone, then: teamoctl team0 interrupts apply\n");
}

TEST(InterruptFindings, report_refused_settings) {
    auto status = two_ports();
    status.ports[0].refused = {"interrupt 33: Input/output error", "xps_cpus: Operation not permitted"};
    EXPECT_EQ(found_in(status),
              "note: eth1: the kernel refused a setting: interrupt 33: Input/output error, and 1 "
              "more\n"
              "    to try again: teamoctl team0 interrupts apply\n");
    status.ports[0].now.queues[0].vectors[0].affinity = {0};
    EXPECT_THAT(found_in(status), StartsWith("warning: eth1: the kernel refused"))
        << "it arrives at another CPU";
}

TEST(InterruptFindings, name_the_rights_that_threads_need) {
    auto status = two_ports();
    status.ports[0].threads_stay = true;
    const auto found = found_in(status);
    EXPECT_THAT(found, StartsWith("warning: eth1: its NAPI threads stay where they are"));
    EXPECT_THAT(found, testing::HasSubstr("/etc/systemd/system/teamd-offload@team0.service.d/"));
    EXPECT_THAT(found, testing::Not(testing::HasSubstr("the kernel refused")));
    auto readings = with(status);
    readings.unit = "teamd-offload.service"; // of all teams
    EXPECT_THAT(found_in(readings), testing::HasSubstr("/etc/systemd/system/teamd-offload.service.d/"));
}

TEST(InterruptFindings, note_a_queue_that_takes_nearly_all) {
    auto readings = with(two_ports());
    auto& port = readings.state.interrupts->ports[0];
    for (unsigned queue = 1; queue < 4; ++queue)
        port.now.queues.push_back(
            {.queue = queue,
             .vectors = {{.irq = 33 + 10 * queue, .affinity = {queue}, .effective = {queue}}}});
    port.now.receive_queues = 4;
    port.cpus = {2, 1, 2, 3};
    readings.before = readings.state;
    const auto receive = [&](unsigned queue, std::uint64_t interrupts) {
        port.now.queues[queue].vectors[0].count += interrupts;
    };
    receive(3, 9'000);
    receive(0, 500);
    EXPECT_EQ(found_in(readings), "note: eth1: queue 3 of 4 gets 94.7 % of the interrupts: the hash of the "
                                  "card (RSS) sends nearly all packets to this queue\n"
                                  "    ethtool -X eth1 equal 4  (for UDP also: ethtool -N eth1 rx-flow-hash "
                                  "udp4 sdfn); with only a few connections the load may stay uneven\n");
    receive(1, 3'000);
    EXPECT_EQ(found_in(readings), nothing_found) << "two queues share the load";
    readings.before = readings.state;
    receive(3, 900);
    EXPECT_EQ(found_in(readings), nothing_found) << "there is little traffic";
    receive(3, 90'000);
    for (auto& queue : port.now.queues)
        queue.vectors[0].effective = {2};
    EXPECT_EQ(found_in(readings), nothing_found) << "all queues are served by one CPU";
}

TEST(InterruptFindings, note_too_few_cpus_and_warn_if_configured) {
    auto status = two_ports();
    status.degraded = "9 ports, 8 CPUs: up to 2 ports share a CPU";
    auto readings = with(status);
    EXPECT_EQ(found_in(readings),
              "note: team0: not every port has an interrupt CPU of its own: 9 ports, 8 CPUs: up "
              "to 2 ports share a CPU\n"
              "    use more CPUs or fewer ports\n");
    readings.configuration = *json::parse(R"({"interrupts": {"cpus": "0-1"}})");
    EXPECT_THAT(found_in(readings), StartsWith("warning: team0: not every port"));
    EXPECT_THAT(found_in(readings), HasSubstr("more CPUs in \"interrupts\""));
    status.degraded = "no CPU may serve interrupts: all are isolated";
    status.ports[0].cpus.clear();
    status.ports[1].cpus.clear();
    EXPECT_THAT(found_in(status), StartsWith("warning: team0: not every port"));
}

TEST(InterruptFindings, name_programs_that_set_affinities_unless_they_spare_ours) {
    auto status = two_ports();
    status.writers = {{.spares_ports = true, .text = "irqbalance (pid 812) leaves them alone"}};
    EXPECT_EQ(found_in(status), nothing_found);
    status.writers = {{.text = "irqbalance (pid 812) is there: it has no socket"},
                      {.program = InterruptWriter::Program::udevd,
                       .text = "systemd-udevd places the interrupts of eth1 too"}};
    const auto findings = interrupt_findings(with(status));
    ASSERT_EQ(findings.size(), 2);
    EXPECT_EQ(findings[0].severity, Severity::warning);
    EXPECT_THAT(findings[0].fix, HasSubstr("systemctl stop irqbalance"));
    EXPECT_EQ(findings[1].severity, Severity::note);
    EXPECT_THAT(findings[1].fix, HasSubstr("udevadm control --reload"));
}

TEST(InterruptFindings, report_shared_cpus_if_interrupts_are_not_managed) {
    auto status = two_ports();
    status.managed = false;
    status.policy = InterruptPolicy::off;
    status.writers = {{.text = "irqbalance (pid 812) is there: it does not answer"}};
    status.degraded = "as it was planned before";
    EXPECT_EQ(found_in(status), nothing_found);
    status.ports[1].now.queues[0].vectors[0].effective = {2};
    EXPECT_EQ(found_in(status),
              "warning: team0: interrupts of eth1 and eth2 arrive at the same CPU 2, and the "
              "daemon does not move them: interrupts.policy is \"off\"\n"
              "    teamoctl team0 interrupts apply\n");
    status.policy = InterruptPolicy::unique;
    EXPECT_THAT(found_in(status), HasSubstr("the same CPU 2, and the daemon does not move them\n"));
    // The CPU where they arrive is not known.
    for (auto& each : status.ports)
        each.now.queues[0].vectors[0] = {.irq = 1, .affinity = {0, 1, 2, 3}};
    EXPECT_EQ(found_in(status), nothing_found);
}

} // namespace
} // namespace teamo::ctl
