// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/doctor/findings.h"
#include "text/numbers.h"

#include "config/config_file.h"
#include "plan/interrupts/interrupt_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace teamo::ctl {
namespace {

using enum Severity;

std::string apply_command(const Readings& readings) {
    return fmt::format("teamoctl {} interrupts apply", readings.state.name);
}

bool has_misplaced(const PortInterruptStatus& port) {
    return std::ranges::any_of(vectors_of(port.now), [&port](const IrqVector& vector) {
        const auto* wanted =
            find(port.wanted, CpuSetting{.kind = CpuSetting::Kind::irq, .number = vector.irq});
        return wanted != nullptr && affinity_state(vector, *wanted) == AffinityState::misplaced;
    });
}

/// The unit does not have the rights to move kernel threads.
void add_threads(const Readings& readings, const PortInterruptStatus& port, Findings& findings) {
    if (!port.threads_stay) return;
    findings.push_back({warning, port.name, std::string(threads_stay_text),
                        fmt::format("install -D -m 644 /usr/share/teamd-offload/systemd/bind-threads.conf "
                                    "/etc/systemd/system/{0}.d/bind-threads.conf && "
                                    "systemctl daemon-reload && systemctl restart {0}",
                                    unit_to_restart(readings))});
}

/// A warning only if an interrupt arrives at another CPU than planned; XPS and RPS matter less.
void add_refused(const Readings& readings, const PortInterruptStatus& port, Findings& findings) {
    if (port.refused.empty()) return;
    const auto more = port.refused.size() - 1;
    findings.push_back({has_misplaced(port) ? warning : note, port.name,
                        fmt::format("the kernel refused a setting: {}{}", port.refused.front(),
                                    more == 0 ? "" : fmt::format(", and {} more", more)),
                        "to try again: " + apply_command(readings)});
}

void add_degraded(const Readings& readings, const InterruptStatus& interrupts, Findings& findings) {
    if (interrupts.degraded.empty()) return;
    const bool none = std::ranges::any_of(interrupts.ports, [](const PortInterruptStatus& port) {
        return !port.now.queues.empty() && port.cpus.empty();
    });
    const auto read = read_document(readings.configuration, {}, DatapathChoice::automatic);
    const bool configured = read.configuration && !read.configuration->team.interrupts.cpus.empty();
    // Too few CPUs are a fact of the machine, but the configuration can exclude too many.
    findings.push_back({none || configured ? warning : note, readings.state.name,
                        "not every port has an interrupt CPU of its own: " + interrupts.degraded,
                        configured ? R"(in the configuration: more CPUs in "interrupts": {"cpus": "LIST"})"
                        : none     ? R"(in the configuration: "interrupts": {"cpus": "LIST"})"
                                   : "use more CPUs or fewer ports"});
}

void add_writer(const std::string& team, const InterruptWriter& writer, Findings& findings) {
    if (writer.spares_ports) return;
    if (writer.program == InterruptWriter::Program::irqbalance)
        findings.push_back({warning, team, writer.text,
                            "configure it to use /usr/share/teamd-offload/irqbalance/teamd-offload-policy, "
                            "or stop it: systemctl stop irqbalance"});
    else // udevd sets it once when a device appears, and the daemon repairs that
        findings.push_back({note, team, writer.text, "remove this setting, then: udevadm control --reload"});
}

/// For interrupts that the daemon does not manage. Leaves out interrupts that may arrive at several CPUs.
void add_shared(const Readings& readings, const InterruptStatus& interrupts, Findings& findings) {
    std::map<unsigned, std::set<std::string>> by_cpu;
    for (const auto& port : interrupts.ports)
        for (const auto& queue : port.now.queues)
            for (const auto& vector : queue.vectors) {
                const auto& where = vector.effective.empty() ? vector.affinity : vector.effective;
                if (where.size() == 1) by_cpu[where.front()].insert(port.name);
            }
    std::vector<unsigned> cpus;
    std::set<std::string> names;
    for (const auto& [cpu, ports] : by_cpu) {
        if (ports.size() < 2) continue;
        cpus.push_back(cpu);
        names.insert(ports.begin(), ports.end());
    }
    if (cpus.empty()) return;
    const bool off = interrupts.policy == InterruptPolicy::off;
    findings.push_back(
        {warning, readings.state.name,
         fmt::format("interrupts of {} arrive at the same CPU{} {}, and the daemon does not move them{}",
                     listed({names.begin(), names.end()}), cpus.size() == 1 ? "" : "s",
                     teamo::text_of(cpu_list_of(cpus)), off ? ": interrupts.policy is \"off\"" : ""),
         apply_command(readings)});
}

constexpr std::uint64_t min_interrupts = 2000; // between the two readings: fewer keep no CPU busy
constexpr double max_of_one_queue = 0.9;

std::map<unsigned, std::uint64_t> counts_of(const InterruptStatus& interrupts) {
    std::map<unsigned, std::uint64_t> counts;
    for (const auto& port : interrupts.ports)
        for (const auto& vector : vectors_of(port.now))
            counts[vector.irq] = vector.count;
    return counts;
}

/// The card's hash (RSS) decides by which queue a packet arrives. Queues whose interrupts arrive at one CPU
/// are no use apart.
void add_uneven_queues(const InterruptStatus& before, const PortInterruptStatus& port, Findings& findings) {
    const auto counts = counts_of(before);
    std::set<CpuList> places;
    std::uint64_t sum = 0, most = 0;
    unsigned fullest = 0;
    for (const auto& queue : port.now.queues) {
        std::uint64_t count = 0;
        for (const auto& vector : queue.vectors) {
            const auto* then = find(counts, vector.irq);
            if (then != nullptr && vector.count > *then) count += vector.count - *then;
            places.insert(vector.effective.empty() ? vector.affinity : vector.effective);
        }
        sum += count;
        if (count <= most) continue;
        most = count;
        fullest = queue.queue;
    }
    if (places.size() < 2 || sum < min_interrupts ||
        static_cast<double>(most) < max_of_one_queue * static_cast<double>(sum))
        return;
    findings.push_back({note, port.name,
                        fmt::format("queue {} of {} gets {} of the interrupts: the hash of the card (RSS) "
                                    "sends nearly all packets to this queue",
                                    fullest, port.now.queues.size(),
                                    share(static_cast<double>(most), static_cast<double>(sum))),
                        fmt::format("ethtool -X {0} equal {1}  (for UDP also: ethtool -N {0} rx-flow-hash "
                                    "udp4 sdfn); with only a few connections the load may stay uneven",
                                    port.name, port.now.receive_queues)});
}

} // namespace

Findings interrupt_findings(const Readings& readings) {
    Findings findings;
    if (!readings.state.interrupts) return findings;
    const auto& interrupts = *readings.state.interrupts;
    if (readings.before.interrupts)
        for (const auto& port : interrupts.ports)
            add_uneven_queues(*readings.before.interrupts, port, findings);
    if (!interrupts.managed) {
        add_shared(readings, interrupts, findings);
        return findings; // other programs may move them
    }
    for (const auto& port : interrupts.ports) {
        if (port.contested)
            findings.push_back(
                {warning, port.name, fmt::format("{}, repeatedly; the daemon gave up", port.drift),
                 "configure that program to leave this interrupt alone, then: " + apply_command(readings)});
        add_refused(readings, port, findings);
        add_threads(readings, port, findings);
    }
    add_degraded(readings, interrupts, findings);
    for (const auto& writer : interrupts.writers)
        add_writer(readings.state.name, writer, findings);
    return findings;
}

} // namespace teamo::ctl
