// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/report/interrupt_report.h"

#include "ctl/report/table.h"
#include "plan/interrupts/interrupt_settings.h"

#include <fmt/format.h>

#include <algorithm>

namespace teamo::ctl {
namespace {

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

/// The CPUs where its queues' interrupts arrive now.
std::string arrival_text(const PortInterruptStatus& port) {
    std::vector<unsigned> all;
    for (const auto& queue : port.now.queues)
        for (const auto& vector : queue.vectors) {
            const auto& where = vector.effective.empty() ? vector.affinity : vector.effective;
            all.insert(all.end(), where.begin(), where.end());
        }
    return or_dash(teamo::text_of(cpu_list_of(std::move(all))));
}

bool has_state(const PortInterruptStatus& port, const IrqVector& vector, AffinityState state) {
    const auto wanted = port.wanted.find({.kind = CpuSetting::Kind::irq, .number = vector.irq});
    return wanted != port.wanted.end() && affinity_state(vector, wanted->second) == state;
}

bool has_misplaced(const PortInterruptStatus& port) {
    return std::ranges::any_of(vectors_of(port.now), [&port](const IrqVector& vector) {
        return has_state(port, vector, AffinityState::misplaced);
    });
}

/// Only of queues: interrupts for link events are so rare that they are always pending.
std::ptrdiff_t pending_vectors(const PortInterruptStatus& port) {
    std::ptrdiff_t count = 0;
    for (const auto& queue : port.now.queues)
        count += std::ranges::count_if(queue.vectors, [&port](const IrqVector& vector) {
            return has_state(port, vector, AffinityState::pending);
        });
    return count;
}

std::string state_of(const PortInterruptStatus& port) {
    if (port.now.queues.empty()) return "no interrupts";
    if (port.contested) return "contested";
    if (port.cpus.empty()) return "unmanaged";
    if (has_misplaced(port)) return "misplaced";
    if (!port.refused.empty()) return "refused";
    if (const auto pending = pending_vectors(port); pending != 0) return fmt::format("{} pending", pending);
    return port.shares.empty() ? "ok" : "shared";
}

std::string sending_cpus(const PortInterruptStatus& port) {
    std::string text;
    for (const auto& mask : port.now.xps)
        text += (text.empty() ? "" : " ") + or_dash(teamo::text_of(mask));
    return or_dash(text);
}

std::uint64_t count_of(const PortInterruptStatus& port) {
    std::uint64_t count = 0;
    for (const auto& vector : vectors_of(port.now))
        count += vector.count;
    return count;
}

} // namespace

std::vector<std::string> interrupt_remarks(const InterruptStatus& interrupts) {
    std::vector<std::string> remarks;
    for (const auto& port : interrupts.ports)
        if (port.contested)
            remarks.push_back(fmt::format("{}: {}, repeatedly; the daemon gave up", port.name, port.drift));
    if (!interrupts.degraded.empty()) remarks.push_back(interrupts.degraded);
    for (const auto& port : interrupts.ports)
        for (const auto& refused : port.refused)
            remarks.push_back(fmt::format("{}: {}", port.name, refused));
    for (const auto& port : interrupts.ports)
        if (!port.contested && !port.drift.empty())
            remarks.push_back(fmt::format("{}: {}, and was set back", port.name, port.drift));
    remarks.insert(remarks.end(), interrupts.writers.begin(), interrupts.writers.end());
    if (!interrupts.managed)
        remarks.emplace_back(
            interrupts.policy == InterruptPolicy::off
                ? "interrupts are not managed: interrupts.policy is \"off\""
                : "interrupts are set back to the CPUs from before the team, until: interrupts apply");
    return remarks;
}

std::string interrupts_text(const InterruptStatus& interrupts) {
    std::vector<Row> rows;
    for (const auto& port : interrupts.ports)
        rows.push_back({port.name, std::to_string(port.now.queues.size()),
                        or_dash(teamo::text_of(cpu_list_of(port.cpus))), arrival_text(port),
                        sending_cpus(port), std::to_string(count_of(port)), std::to_string(port.repaired),
                        state_of(port)});
    auto text = table_of(
        {"port", "queues", "CPU", "arrive at", "sent from", "interrupts", "repaired", "state"}, rows);
    for (const auto& remark : interrupt_remarks(interrupts))
        text += remark + "\n";
    return text;
}

std::string interrupt_plan_text(const InterruptStatus& interrupts) {
    std::string text;
    for (const auto& port : interrupts.ports) {
        if (port.reason.empty())
            text += fmt::format("{}: has no interrupts\n", port.name);
        else
            text +=
                fmt::format("{}: {}{}\n", port.name, port.reason, port.moves ? " (from another CPU)" : "");
    }
    if (!interrupts.degraded.empty()) text += interrupts.degraded + "\n";
    return text;
}

} // namespace teamo::ctl
