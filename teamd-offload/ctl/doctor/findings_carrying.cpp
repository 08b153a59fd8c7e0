// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/doctor/findings.h"
#include "ctl/units.h"

#include <fmt/format.h>

#include <algorithm>

namespace teamo::ctl {
namespace {

using enum Severity;

const Device* find_device(const Readings& readings, const std::string& name) {
    const auto found = readings.devices.find(name);
    return found == readings.devices.end() ? nullptr : &found->second;
}

void add_of_team(const TeamState& state, Findings& findings) {
    const auto able = carriers(state).size();
    if (state.ports.empty()) {
        findings.push_back({error, state.name, "has no port: it cannot send or receive",
                            fmt::format("teamoctl {} port add DEVICE", state.name)});
    } else if (able == 0) {
        findings.push_back({error, state.name, "no port carries: the team cannot send or receive",
                            fmt::format("teamoctl {} state", state.name)});
    } else if (able == 1 && state.ports.size() > 1) {
        findings.push_back(
            {warning, state.name,
             fmt::format("only {} of {} can carry: if it fails, the team fails",
                         carriers(state).front()->name, counted(state.ports.size(), "port", "ports")),
             fmt::format("teamoctl {} state", state.name)});
    } else if (able == 1) {
        findings.push_back(
            {note, state.name,
             fmt::format("{} is its only port: if it fails, the team fails", state.ports.front().name),
             fmt::format("teamoctl {} port add DEVICE", state.name)});
    }
}

void add_link(const Readings& readings, const PortStatus& port, Findings& findings) {
    const auto* device = find_device(readings, port.name);
    if (device != nullptr && !device->up) {
        findings.push_back(
            {warning, port.name, "is administratively down", fmt::format("ip link set {} up", port.name)});
    } else if (!port.link.up) {
        findings.push_back({warning, port.name, "has no link: check the cable and the port of the switch",
                            fmt::format("ethtool {}", port.name)});
    } else if (!port.link_up) {
        findings.push_back({warning, port.name, "has a link, but its link watches report it as down",
                            fmt::format("teamoctl -v {} state", readings.state.name)});
    } else if (!port.link.speed) {
        // Balancing places loads by capacity, and can only guess that of this port.
        const bool balanced = readings.state.balance && readings.state.balance->config.on;
        findings.push_back({balanced ? warning : note, port.name,
                            "its speed is not known, so its capacity is not known",
                            fmt::format("ethtool -s {} speed SPEED duplex full", port.name)});
    }
}

/// Not seen, a lost link costs packets until the daemon handles it.
void add_link_sight(const TeamState& state, Findings& findings) {
    if (state.link_sight.sees || state.ports.size() < 2) return;
    findings.push_back(
        {note, state.name,
         fmt::format(
             "the datapath does not see lost links, so packets are lost until the daemon handles one: "
             "{}",
             state.link_sight.reason),
         state.datapath == "team" ? "\"datapath\": \"bpf\" in the configuration, on kernel 6.2 or later"
                                  : "use kernel 6.2 or later"});
}

} // namespace

Findings carrying_findings(const Readings& readings) {
    Findings findings;
    add_of_team(readings.state, findings);
    add_link_sight(readings.state, findings);
    for (const auto& port : readings.state.ports)
        add_link(readings, port, findings);
    return findings;
}

} // namespace teamo::ctl
