// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Whether the switch aggregates the ports. With LACP it says so; without, the only evidence is which packets
// arrive by which port.
#include "ctl/doctor/findings.h"
#include "text/numbers.h"
#include "json/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace teamo::ctl {
namespace {

using enum Severity;

// Fewer packets may belong to a few long connections, which the hash may send by one port.
constexpr std::uint64_t min_received = 100'000;
// The rest may be frames that a switch sends to each port: floods, LLDP, spanning tree.
constexpr double max_share_of_one_port = 0.99;
// A port that has sent fewer packets may have joined just now, or there may be only one connection.
constexpr std::uint64_t min_sent = 10'000;

constexpr const char* fix_on_switch =
    "on the switch: put the ports into one static group (no LACP) that hashes addresses and ports";
// One or two may have another cause: the group of the switch has just changed.
constexpr std::size_t min_repeated = 3;

/// A broadcast begins so.
constexpr std::string_view to_all = "\xff\xff\xff\xff\xff\xff";

/// Copies of a frame differ by the time in the queues of the switch.
constexpr std::chrono::milliseconds max_difference{20};

/// Certain: a switch that aggregates the ports sends no frame by two of them. Not for the broadcast runner,
/// whose ports may be connected to different switches.
bool add_repeated(const Readings& readings, Findings& findings) {
    const auto& frames = readings.repeated;
    if (frames.duplicated + frames.own < min_repeated || readings.state.runner == "broadcast") return false;
    std::vector<std::string> ports;
    for (const auto& port : readings.state.ports)
        if (frames.ports.contains(port.ifindex)) ports.push_back(port.name);
    const auto duplicated =
        fmt::format("{} of {} in a second arrived by more than one port", frames.duplicated,
                    counted(frames.different, "broadcast or multicast", "broadcasts and multicasts"));
    const auto own = counted(frames.own, "frame sent by the team", "frames sent by the team") + " came back";
    findings.push_back(
        {warning, readings.state.name,
         fmt::format("{} ({}): the switch does not aggregate the ports, or sends each frame by "
                     "all of them; the team receives such frames more than once",
                     frames.duplicated == 0 ? own
                     : frames.own == 0      ? duplicated
                                            : duplicated + ", " + own,
                     listed(ports)),
         fix_on_switch});
    return true;
}

/// With slb it is the reverse: to each port a switch must send a copy of what it floods.
void add_aggregated(const Readings& readings, Findings& findings) {
    const auto& frames = readings.repeated;
    const auto carrying = std::ranges::count_if(readings.state.ports, &PortStatus::transmits);
    if (frames.broadcasts < min_repeated || frames.duplicated + frames.own > 0 || carrying < 2) return;
    findings.push_back(
        {warning, readings.state.name,
         fmt::format("{} in a second arrived by one port each, and none came back: the switch seems to "
                     "aggregate the ports, and with the runner slb frames that arrive by another port than "
                     "their address's are dropped",
                     counted(frames.broadcasts, "broadcast", "broadcasts")),
         fmt::format("on the switch: remove the group (LAG) of the ports; or here: {}",
                     readings.state.attached ? R"(remove "runner": {"name": "slb"})"
                                             : R"("runner": {"name": "loadbalance"}, or "lacp")")});
}

/// A switch that does not aggregate the ports learns the team's address by one port and uses only this port.
void add_one_sided(const TeamState& state, Findings& findings) {
    std::uint64_t all = 0;
    const PortStatus* most = nullptr;
    std::vector<std::string> idle;
    for (const auto& port : state.ports) {
        if (!port.receives) continue;
        all += port.counters.rx_packets;
        if (most == nullptr || port.counters.rx_packets > most->counters.rx_packets) most = &port;
    }
    if (all < min_received) return;
    const auto part = static_cast<double>(most->counters.rx_packets) / static_cast<double>(all);
    for (const auto& port : state.ports)
        if (&port != most && port.receives && port.counters.tx_packets >= min_sent) idle.push_back(port.name);
    if (part <= max_share_of_one_port || idle.empty()) return;
    findings.push_back(
        {note, state.name,
         fmt::format(
             "{:.1f} % of the received packets arrived by {}, but the team also sends by {}: the switch may "
             "not aggregate the ports, or may hash fields that are equal in all packets",
             100 * part, most->name, listed(idle)),
         fix_on_switch});
}

// In a second. Fewer may be the flooded packets of a large network, read at slightly different times.
constexpr std::uint64_t min_to_standby = 500;
constexpr double min_excess = 1.1; // the two counters are not read at the same time

/// Packets that arrived by a port, also if they were dropped there. A device's rx_packets include
/// dropped packets; those of our BPF programs do not.
std::uint64_t arrived(const TeamState& state, const PortStatus& port) {
    return port.counters.rx_packets + (state.counts_by_program ? port.counters.rx_dropped : 0);
}

/// None if the port was added in between or its role changed.
std::optional<std::uint64_t> arrived_between(const Readings& readings, const PortStatus& port) {
    const auto* before = find_port(readings.before, port.name);
    if (before == nullptr || before->receives != port.receives) return std::nullopt;
    const auto earlier = arrived(readings.before, *before), now = arrived(readings.state, port);
    return now < earlier ? std::nullopt : std::optional(now - earlier);
}

/// A switch floods to all ports alike. If more packets arrive by a backup port than by the active one, the
/// switch sent them there on purpose, and they are lost. Fewer packets show nothing.
void add_to_standby(const Readings& readings, Findings& findings) {
    const auto& state = readings.state;
    const auto active = std::ranges::find_if(state.ports, &PortStatus::receives);
    if (active == state.ports.end()) return;
    const auto by_active = arrived_between(readings, *active);
    if (!by_active) return;
    for (const auto& port : state.ports) {
        const auto here = port.receives ? std::nullopt : arrived_between(readings, port);
        if (!here || *here < min_to_standby ||
            static_cast<double>(*here) <= min_excess * static_cast<double>(*by_active))
            continue;
        findings.push_back(
            {warning, port.name,
             fmt::format(
                 "is a backup port, but received {} in a second while the active port received {} ({}): "
                 "the switch seems to aggregate the ports, and packets to a backup port are lost",
                 counted(*here, "packet", "packets"), *by_active, active->name),
             fmt::format("on the switch: remove the group (LAG) of the ports; or here: {}",
                         state.attached ? "the bond's mode balance-xor, or 802.3ad"
                                        : R"("runner": {"name": "loadbalance"})")});
    }
}

/// The daemon's own sentence for each port with a link that LACP does not use.
void add_unused_by_lacp(const TeamState& state, Findings& findings) {
    for (const auto& port : state.ports) {
        const auto& runner =
            json::child(json::child(json::child(state.document, "ports"), port.name), "runner");
        const auto why = json::text(json::child(runner, "detail"), "not_used_because");
        if (why.empty() || !port.link.up || port.drain.phase != DrainPhase::none) continue;
        findings.push_back({warning, port.name, "is not used: " + why,
                            fmt::format("compare teamoctl {} state -v with the switch: system, key and state "
                                        "of actor and partner",
                                        state.name)});
    }
}

} // namespace

RepeatedFrames repeated_frames(std::span<const GroupFrame> frames, const MacAddress& own) {
    std::vector<const GroupFrame*> list;
    RepeatedFrames found;
    for (const auto& frame : frames) {
        if (frame.source == own) {
            ++found.own;
            found.ports.insert(frame.port);
        } else {
            list.push_back(&frame);
        }
    }
    std::ranges::sort(list, {}, [](const GroupFrame* frame) { return std::tie(frame->bytes, frame->at); });
    for (auto first = list.begin(); first != list.end();) {
        const auto end = std::find_if(first, list.end(), [&one = **first](const GroupFrame* frame) {
            return frame->bytes != one.bytes || frame->at - one.at > max_difference;
        });
        const auto& bytes = (*first)->bytes;
        std::set<IfIndex> ports;
        for (; first != end; ++first)
            ports.insert((*first)->port);
        ++found.different;
        if (bytes.starts_with(to_all)) ++found.broadcasts;
        if (ports.size() > 1) {
            ++found.duplicated;
            found.ports.merge(ports);
        }
    }
    return found;
}

Findings aggregation_findings(const Readings& readings) {
    Findings findings;
    if (readings.state.runner == "lacp")
        add_unused_by_lacp(readings.state, findings);
    else if (readings.state.runner == "activebackup")
        add_to_standby(readings, findings);
    else if (readings.state.runner == "slb")
        add_aggregated(readings, findings);
    else if (!balances_alone(readings.state) && !add_repeated(readings, findings))
        add_one_sided(readings.state, findings);
    return findings;
}

} // namespace teamo::ctl
