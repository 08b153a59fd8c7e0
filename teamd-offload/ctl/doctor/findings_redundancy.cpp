// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Whether several ports are several: what all of them need, and switches that are not one.
#include "ctl/doctor/findings.h"
#include "text/numbers.h"

#include <fmt/format.h>

#include <algorithm>

namespace teamo::ctl {
namespace {

using enum Severity;

/// The largest part alone: a card has one root port and one node.
void add_shared_place(const Readings& readings, const std::vector<const PortStatus*>& ports,
                      Findings& findings) {
    const auto& name = readings.state.name;
    const auto& common = readings.state.common;
    const auto all = listed(names_of(ports));
    if (!common.card.empty()) {
        findings.push_back(
            {warning, name,
             fmt::format("{} are on one card ({}) in one slot: its failure stops the team", all, common.card),
             fmt::format("use a port of another card for one of them{}",
                         readings.state.attached ? "" : fmt::format(": teamoctl {} port add PORT", name))});
    } else if (!common.root_port.empty()) {
        findings.push_back({note, name,
                            fmt::format("{} are behind one PCIe root port ({}): its failure stops the team",
                                        all, common.root_port),
                            "move a card to a slot behind another root port  (lspci -tv)"});
    } else if (common.node >= 0 && readings.state.runner == "activebackup") {
        // For other runners placement_findings() reports it.
        const auto is_elsewhere = [&](const Cpu& cpu) {
            return cpu.node != static_cast<unsigned>(common.node);
        };
        if (!std::ranges::any_of(readings.topology.cpus, is_elsewhere)) return;
        findings.push_back(
            {note, name,
             fmt::format("{} are on one NUMA node ({}): its failure stops the team", all, common.node),
             "use ports of a card in a slot of another node  (/sys/class/net/PORT/device/numa_node)"});
    }
}

/// LACP does not tell: several switches may be one system.
void add_shared_switch(const TeamState& state, const std::vector<const PortStatus*>& ports,
                       Findings& findings) {
    if (state.common.at.source != SwitchSource::lldp) return;
    const bool needs_no_help = state.runner == "activebackup" || balances_alone(state);
    findings.push_back(
        {note, state.name,
         fmt::format("{} lead to one switch ({}): its failure stops the team", listed(names_of(ports)),
                     state.common.at.shown()),
         fmt::format("connect one of them to another switch{}",
                     needs_no_help ? "" : ", if both switches can aggregate ports together (MLAG, stack)")});
}

bool needs_one_aggregate(const TeamState& state) {
    return state.runner != "activebackup" && state.runner != "lacp" && state.runner != "broadcast" &&
           !balances_alone(state);
}

/// Without LACP nobody tells the switches that the ports are one link.
void add_different_switches(const TeamState& state, const std::vector<const PortStatus*>& ports,
                            Findings& findings) {
    if (!needs_one_aggregate(state)) return;
    std::map<std::string, std::pair<std::string, std::vector<std::string>>> switches;
    for (const auto* port : ports) {
        const auto& at = port->domain.at;
        if (at.source != SwitchSource::lldp) continue;
        switches[at.id].first = at.shown();
        switches[at.id].second.push_back(port->name);
    }
    if (switches.size() < 2) return;
    std::string text;
    for (const auto& [id, entry] : switches)
        text += fmt::format("{}{} to {}", text.empty() ? "" : ", ", listed(entry.second), entry.first);
    findings.push_back(
        {warning, state.name,
         fmt::format("its ports lead to different switches ({}): with the runner {} each of them must treat "
                     "the ports as one link",
                     text, state.runner),
         state.attached
             ? R"("runner": {"name": "slb"}, or the bond's mode active-backup, or 802.3ad if the switches are one system (MLAG, stack))"
             : "use the runner activebackup or slb, or lacp if the switches are one system (MLAG, stack)"});
}

} // namespace

bool balances_alone(const TeamState& state) {
    const auto& attached = state.attached;
    return state.runner == "slb" ||
           (attached && (attached->mode == "balance-tlb" || attached->mode == "balance-alb"));
}

Findings redundancy_findings(const Readings& readings) {
    Findings findings;
    const auto ports = carriers(readings.state);
    if (ports.size() < 2) return findings;
    add_shared_place(readings, ports, findings);
    add_shared_switch(readings.state, ports, findings);
    add_different_switches(readings.state, ports, findings);
    return findings;
}

} // namespace teamo::ctl
