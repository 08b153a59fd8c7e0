// SPDX-License-Identifier: LGPL-2.1-or-later
//
// doctor: reports what is wrong or slow about a team.
#include "ctl/commands.h"
#include "ctl/doctor/findings.h"
#include "ctl/doctor/measuring.h"
#include "ctl/doctor/sampling.h"
#include "ctl/output.h"
#include "kernel/cpus/cpu_topology.h"
#include "kernel/ethtool/ethtool.h"
#include "kernel/files/pci_location.h"
#include "kernel/netlink/links.h"
#include "kernel/netlink/qdisc_stats.h"
#include "kernel/packets/multicast_capture.h"

#include <algorithm>

namespace teamo::ctl {
namespace {

using Drops = std::map<std::string, std::uint64_t, std::less<>>;

/// Packets that the ports' qdiscs have dropped; a port without a qdisc has no entry.
Result<Drops> read_drops(const TeamState& state) {
    auto socket = NetlinkSocket::open(NETLINK_ROUTE);
    if (!socket) return tl::unexpected(socket.error());
    const auto queues = read_queues(*socket);
    if (!queues) return tl::unexpected(queues.error());
    Drops drops;
    for (const auto& port : state.ports)
        if (const auto queue = queues->find(port.ifindex); queue != queues->end())
            drops[port.name] = queue->second.dropped;
    return drops;
}

/// Needs CAP_NET_RAW. Without it the findings on repeated frames are missing.
Result<GroupFrames> capture_multicast(const TeamState& state) {
    std::vector<IfIndex> ports;
    for (const auto& port : state.ports)
        if (port.receives) ports.push_back(port.ifindex);
    return GroupFrames::open(ports);
}

/// A device that has just been removed is left out.
Result<> read_devices(Readings& readings) {
    auto control = LinkControl::open();
    if (!control) return tl::unexpected(control.error());
    auto ethtool = Ethtool::open();
    if (!ethtool) return tl::unexpected(ethtool.error());
    const auto add = [&](const std::string& name, IfIndex index) {
        const auto link = control->read(index);
        if (!link) return;
        readings.devices[name] = {.up = link->is_up(),
                                  .mtu = link->mtu,
                                  .features = ethtool->read_features(index).value_or(Features{}),
                                  .queue_dropped = 0};
        if (auto place = read_device_place(*link); place && index != readings.state.ifindex)
            readings.places[name] = std::move(*place);
    };
    add(readings.state.name, readings.state.ifindex);
    for (const auto& port : readings.state.ports)
        add(port.name, port.ifindex);
    return {};
}

Result<Readings> read_all(Session& session) {
    Readings readings;
    const auto first = session.state();
    if (!first) return tl::unexpected(first.error());
    const auto dropped = read_drops(*first);
    if (!dropped) return tl::unexpected(dropped.error());
    auto frames = capture_multicast(*first);
    auto sample = take_sample(session);
    if (!sample) return tl::unexpected(sample.error());
    if (frames) readings.repeated = repeated_frames(frames->take(), first->address);
    readings.before = std::move(sample->before);
    readings.state = std::move(sample->state);
    readings.rates = std::move(sample->rates);
    if (auto read = read_devices(readings); !read) return tl::unexpected(read.error());
    readings.topology = read_cpu_topology().value_or(CpuTopology{}); // only notes need it
    const auto dropped_after = read_drops(readings.state);
    if (!dropped_after) return tl::unexpected(dropped_after.error());
    for (const auto& [port, count] : *dropped_after) {
        const auto before = dropped->find(port);
        const auto device = readings.devices.find(port);
        if (before != dropped->end() && device != readings.devices.end() && count > before->second)
            device->second.queue_dropped = count - before->second;
    }
    auto configuration = session.document(control::ConfigDump{});
    if (!configuration) return tl::unexpected(configuration.error());
    readings.configuration = std::move(*configuration);
    return readings;
}

/// The port of --measure, or the ports that may send more without TSO. Only the former must be measurable.
Result<> measure(Session& session, Readings& readings) {
    const auto& named = session.options().measure;
    if (named && find_port(readings.state, *named) == nullptr)
        return fail(ENODEV, fmt::format("{} is not a port of the team", *named));
    for (const auto& port : named ? std::vector{*named} : ports_to_measure(readings)) {
        auto trial = measure_tso(session, port);
        if (trial)
            readings.trials.push_back(std::move(*trial));
        else if (named)
            return tl::unexpected(trial.error());
    }
    return {};
}

} // namespace

CommandResult doctor(Session& session, Arguments) {
    auto readings = read_all(session);
    if (!readings) return tl::unexpected(readings.error());
    if (auto measured = measure(session, *readings); !measured) return tl::unexpected(measured.error());
    const auto findings = all_findings(*readings);
    if (session.options().json)
        session.print(json_of(session.team(), findings, readings->trials));
    else
        put(text_of(session.team(), findings));
    const bool has_problems = std::ranges::any_of(
        findings, [](const Finding& finding) { return finding.severity != Severity::note; });
    return has_problems ? ExitStatus::failure : ExitStatus::success;
}

} // namespace teamo::ctl
