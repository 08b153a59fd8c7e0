// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/report/state_tables.h"

#include "plan/interrupts/interrupt_settings.h"
#include "text/numbers.h"
#include "json/quote.h"

#include <fmt/format.h>

#include <algorithm>

namespace teamo::ctl {
namespace {

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

/// The number of these vectors of the port that are in this state.
std::ptrdiff_t count_in(AffinityState state, const PortInterruptStatus& port,
                        const std::vector<IrqVector>& vectors) {
    return std::ranges::count_if(vectors, [&](const IrqVector& vector) {
        const auto wanted = port.wanted.find({.kind = CpuSetting::Kind::irq, .number = vector.irq});
        return wanted != port.wanted.end() && affinity_state(vector, wanted->second) == state;
    });
}

std::string state_of(const PortInterruptStatus& port) {
    if (port.now.queues.empty()) return "no interrupts";
    if (port.contested) return "contested";
    if (port.cpus.empty()) return "unmanaged";
    if (count_in(AffinityState::misplaced, port, vectors_of(port.now)) != 0) return "misplaced";
    if (!port.refused.empty() || port.threads_stay) return "refused";
    // Only of queues: interrupts for link events are so rare that they are always pending.
    std::ptrdiff_t pending = 0;
    for (const auto& queue : port.now.queues)
        pending += count_in(AffinityState::pending, port, queue.vectors);
    if (pending != 0) return fmt::format("{} pending", pending);
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

/// "eth1 92 %": the key with the most bytes, and its share of `all`.
template <class Map>
std::string top_of(const Map& map, std::uint64_t all) {
    const auto top = std::ranges::max_element(map, {}, [](const auto& entry) { return entry.second; });
    if (top == map.end() || top->second == 0) return "-";
    return fmt::format(
        "{} {}", top->first,
        share(static_cast<double>(top->second), static_cast<double>(std::max(all, top->second))));
}

Row row_of(const WorkerStatus& one) {
    return {std::to_string(one.worker.id.pid),
            json::printable(one.worker.command),
            std::to_string(one.worker.threads),
            one.rule,
            name_of(one.policy),
            megabits(static_cast<double>(one.traffic.bytes)),
            top_of(one.traffic.by_cpu, one.traffic.bytes),
            top_of(one.traffic.by_port, one.traffic.bytes),
            fmt::format("{:.0f} %", 100 * one.work),
            one.cpus.empty() ? "-" : teamo::text_of(one.cpus)};
}

} // namespace

CpuList arrival_cpus(const PortInterruptStatus& port) {
    std::vector<unsigned> all;
    for (const auto& queue : port.now.queues)
        for (const auto& vector : queue.vectors) {
            const auto& where = vector.effective.empty() ? vector.affinity : vector.effective;
            all.insert(all.end(), where.begin(), where.end());
        }
    return cpu_list_of(std::move(all));
}

std::vector<std::string> interrupt_remarks(const InterruptStatus& interrupts) {
    std::vector<std::string> remarks;
    for (const auto& port : interrupts.ports)
        if (port.contested)
            remarks.push_back(fmt::format("{}: {}, repeatedly; the daemon gave up", port.name, port.drift));
    if (!interrupts.degraded.empty()) remarks.push_back(interrupts.degraded);
    for (const auto& port : interrupts.ports) {
        for (const auto& refused : port.refused)
            remarks.push_back(fmt::format("{}: {}", port.name, refused));
        if (port.threads_stay) remarks.push_back(fmt::format("{}: {}", port.name, threads_stay_text));
    }
    for (const auto& port : interrupts.ports)
        if (!port.contested && !port.drift.empty())
            remarks.push_back(fmt::format("{}: {}, and was set back", port.name, port.drift));
    for (const auto& writer : interrupts.writers)
        remarks.push_back(writer.text);
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
                        or_dash(teamo::text_of(cpu_list_of(port.cpus))),
                        or_dash(teamo::text_of(arrival_cpus(port))), sending_cpus(port),
                        std::to_string(count_of(port)), std::to_string(port.repaired), state_of(port)});
    auto text = table_of(
        {"port", "queues", "CPU", "arrive at", "sent from", "interrupts", "repaired", "state"}, rows);
    for (const auto& remark : interrupt_remarks(interrupts))
        text += remark + "\n";
    return text;
}

std::string interrupt_plan_text(const InterruptStatus& interrupts) {
    std::string text;
    for (const auto& port : interrupts.ports)
        text += fmt::format("{}: {}{}\n", port.name, port.reason.empty() ? "has no interrupts" : port.reason,
                            !port.reason.empty() && port.moves ? " (from another CPU)" : "");
    if (!interrupts.degraded.empty()) text += interrupts.degraded + "\n";
    return text;
}

std::string workers_text(const WorkersStatus& workers) {
    std::vector<Row> rows;
    for (const auto& one : workers.workers)
        rows.push_back(row_of(one));
    auto text = table_of({"process", "command", "threads", "by", "policy", "receives", "on CPU", "by port",
                          "uses", "bound to"},
                         rows);
    for (const auto& one : workers.workers)
        if (!one.reason.empty()) text += fmt::format("{}: {}\n", one.worker.id.pid, one.reason);
    if (workers.rules.empty() && workers.workers.empty())
        text += "no rule selects a process; add rules to \"workers\" in the configuration, or use: workers "
                "bind PID\n";
    else if (workers.workers.empty())
        text += "no process with a socket matches a rule\n";
    for (const auto* remark : {&workers.refused, &workers.complaint, &workers.limitations})
        if (!remark->empty()) text += *remark + "\n";
    if (!workers.managed)
        text += "workers are set back to the CPUs from before they were bound, until: workers apply\n";
    return text;
}

std::string guard_text(const GuardStatus& guard) {
    if (guard.mode == GuardMode::off)
        return "the guard is off; to switch it on, set \"guard\" in the configuration to \"arp\" or "
               "\"full\"\n";
    const auto& dropped = guard.dropped;
    auto text = table_of(
        {"dropped frames", "number"},
        {{"ARP requests for other hosts", std::to_string(dropped.arp_requests)},
         {"neighbour solicitations for other hosts", std::to_string(dropped.neighbour_solicitations)},
         {"to MAC addresses of other hosts", std::to_string(dropped.unicast)},
         {"broadcasts above the rate", std::to_string(dropped.broadcasts)},
         {"multicasts above the rate", std::to_string(dropped.multicasts)},
         {"above the rate of one sender", std::to_string(dropped.of_a_sender)},
         {"(not dropped)", std::to_string(guard.passed)}});
    if (!guard.aside.empty()) text += fmt::format("drops nothing now: {}\n", guard.aside);
    return text;
}

} // namespace teamo::ctl
