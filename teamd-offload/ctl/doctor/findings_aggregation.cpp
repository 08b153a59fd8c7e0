// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Whether the far end takes the ports for what they are here. Nobody tells without LACP, but what comes in by
// which port does.
#include "ctl/doctor/findings.h"
#include "ctl/units.h"

#include <fmt/format.h>

#include <algorithm>

namespace teamo::ctl {
namespace {

using enum Severity;

// Fewer packets may be a few long connections: their hash may well send all of them by one port.
constexpr std::uint64_t enough_received = 100'000;
// All but what a switch floods, or sends for itself, to each port: LLDP, spanning tree.
constexpr double nearly_all = 0.99;
// A port that has just joined has received nothing either; one that has sent so much is long there, and by
// then it was not one connection alone, which sends by one port.
constexpr std::uint64_t enough_sent = 10'000;

constexpr const char* make_a_group =
    "on the switch: the ports' links in one static group (no LACP), and its hash by addresses and ports";
// One or two may be chance: a switch whose group has just changed.
constexpr std::size_t enough_repeated = 3;

/// The one proof: whoever aggregates the ports sends no frame by two of them. Not where each port may have a
/// switch of its own (broadcast).
bool add_repeated(const Readings& readings, Findings& findings) {
    const auto& seen = readings.repeated;
    if (seen.twice + seen.own < enough_repeated || readings.state.runner == "broadcast") return false;
    std::vector<std::string> ports;
    for (const auto& port : readings.state.ports)
        if (seen.by.contains(port.ifindex)) ports.push_back(port.name);
    const auto twice = fmt::format("{} of {} in a second came by more than one port", seen.twice,
                                   counted(seen.seen, "broadcast or multicast", "broadcasts and multicasts"));
    const auto own = fmt::format("{} of its own came back", seen.own);
    findings.push_back(
        {warning, readings.state.name,
         fmt::format("{} ({}): the switch does not aggregate the ports, or sends each frame by "
                     "all of them, and it is taken in more than once",
                     seen.twice == 0 ? own
                     : seen.own == 0 ? twice
                                     : twice + ", " + own,
                     listed(ports)),
         make_a_group});
    return true;
}

/// A switch that does not aggregate may still learn the team's address by one port, and use that.
void add_one_sided(const TeamState& state, Findings& findings) {
    std::uint64_t all = 0;
    const PortStatus* most = nullptr;
    std::vector<std::string> idle;
    for (const auto& port : state.ports) {
        if (!port.receives) continue;
        all += port.counters.rx_packets;
        if (most == nullptr || port.counters.rx_packets > most->counters.rx_packets) most = &port;
    }
    if (all < enough_received) return;
    const auto part = static_cast<double>(most->counters.rx_packets) / static_cast<double>(all);
    for (const auto& port : state.ports)
        if (&port != most && port.receives && port.counters.tx_packets >= enough_sent)
            idle.push_back(port.name);
    if (part <= nearly_all || idle.empty()) return;
    findings.push_back(
        {note, state.name,
         fmt::format("of what came in {:.1f} % came by {}, though it sends by {} too: the switch may not "
                     "aggregate the ports, or hash by what is the same in every packet",
                     100 * part, most->name, listed(idle)),
         make_a_group});
}

// In a second. Below that it may be the flood of a large network, and a moment's difference between ports.
constexpr std::uint64_t more_than_chance = 500;
constexpr double clearly_more = 1.1; // the two counters are not read at the same time

/// What arrived by a port, whether it was taken in or not. The driver's counters, which the team datapath
/// shows, have what was not taken in among the packets; ours count it by itself.
std::uint64_t arrived(const TeamState& state, const PortStatus& port) {
    return port.counters.rx_packets + (state.datapath == "bpf" ? port.counters.rx_dropped : 0);
}

/// None where the port left and came, or was not there.
std::optional<std::uint64_t> arrived_between(const Readings& readings, const PortStatus& port) {
    const auto* before = find_port(readings.before, port.name);
    if (before == nullptr || before->receives != port.receives) return std::nullopt;
    const auto then = arrived(readings.before, *before), now = arrived(readings.state, port);
    return now < then ? std::nullopt : std::optional(now - then);
}

/// What a switch floods comes to each port alike, the active one too. Where more comes to one that stands by
/// than to the active one, it was sent there, and is lost. That not more comes proves nothing.
void add_to_standby(const Readings& readings, Findings& findings) {
    const auto& state = readings.state;
    const auto active = std::ranges::find_if(state.ports, &PortStatus::receives);
    if (active == state.ports.end()) return;
    const auto by_active = arrived_between(readings, *active);
    if (!by_active) return;
    for (const auto& port : state.ports) {
        const auto here = port.receives ? std::nullopt : arrived_between(readings, port);
        if (!here || *here < more_than_chance ||
            static_cast<double>(*here) <= clearly_more * static_cast<double>(*by_active))
            continue;
        findings.push_back(
            {warning, port.name,
             fmt::format("stands by, but {} in a second came by it and {} by {}, which is active: the switch "
                         "seems to aggregate them, and what comes here is lost",
                         counted(*here, "packet", "packets"), *by_active, active->name),
             R"(on the switch: no group (LAG) of the ports; or here: "runner": {"name": "loadbalance"})"});
    }
}

} // namespace

Findings aggregation_findings(const Readings& readings) {
    Findings findings;
    if (readings.state.runner == "activebackup")
        add_to_standby(readings, findings);
    else if (!add_repeated(readings, findings))
        add_one_sided(readings.state, findings);
    return findings;
}

} // namespace teamo::ctl
