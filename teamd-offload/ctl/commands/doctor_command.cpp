// SPDX-License-Identifier: LGPL-2.1-or-later
//
// doctor: reports what is wrong or slow about a team, or about all teams.
#include "base/clock.h"
#include "bus/units.h"
#include "ctl/commands.h"
#include "ctl/doctor/findings.h"
#include "kernel/cpus/cpus.h"
#include "kernel/ethtool/ethtool.h"
#include "kernel/files/device_files.h"
#include "kernel/files/process_files.h"
#include "kernel/netlink/counters.h"
#include "kernel/netlink/links.h"
#include "kernel/packets/packet_socket.h"
#include "plan/team/offload_plan.h"
#include "version.h"
#include "json/fields.h"

#include <algorithm>
#include <thread>

namespace teamo::ctl {
namespace {

/// What the kernel has counted at a port.
struct Counted {
    std::optional<std::uint64_t> dropped{};  ///< by its qdisc; none: it has no qdisc
    std::optional<std::uint64_t> received{}; ///< packets
};
using CountedByPort = std::map<std::string, Counted, std::less<>>;

Result<CountedByPort> read_counted(const TeamState& state) {
    auto socket = TEAMO_TRY(NetlinkSocket::open(NETLINK_ROUTE));
    const auto queues = TEAMO_TRY(read_queues(socket)).counters;
    CountedByPort ports;
    for (const auto& port : state.ports) {
        auto& counted = ports[port.name];
        if (const auto* queue = find(queues, port.ifindex)) counted.dropped = queue->dropped;
        if (const auto stats = read_link_stats(socket, port.ifindex)) counted.received = stats->rx_packets;
    }
    return ports;
}

std::uint64_t seen_by_program(const PortCounters& counters) {
    return counters.rx_packets + counters.rx_dropped + counters.rx_left;
}

/// The program's counts of `first` and `last` include all that the devices count between.
void compare_counted(const TeamState& first, const TeamState& last, const CountedByPort& before,
                     const CountedByPort& after, Readings& readings) {
    for (const auto& [name, to] : after) {
        const auto* from = find(before, name);
        auto* device = find(readings.devices, name);
        if (from == nullptr || device == nullptr) continue;
        if (from->dropped && to.dropped && *to.dropped > *from->dropped)
            device->queue_dropped = *to.dropped - *from->dropped;
        const auto *former = find_port(first, name), *port = find_port(last, name);
        if (former == nullptr || port == nullptr || !from->received || !to.received ||
            *to.received < *from->received)
            continue;
        device->received = *to.received - *from->received;
        const auto seen = seen_by_program(port->counters), seen_before = seen_by_program(former->counters);
        device->seen = seen >= seen_before ? seen - seen_before : seen; // a new daemon's begin at 0
    }
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
    auto control = TEAMO_TRY(LinkControl::open());
    auto ethtool = TEAMO_TRY(Ethtool::open());
    const auto add = [&](const std::string& name, IfIndex index) {
        const auto link = control.read(index);
        if (!link) return;
        readings.devices[name] = {.altnames = link->altnames,
                                  .up = link->is_up(),
                                  .mtu = link->mtu,
                                  .features = ethtool.read_features(index).value_or(Features{}),
                                  .has_xdp = link->has_xdp,
                                  .distrusts_tso = distrusts_tso(read_driver(*link)),
                                  .is_virtual_function = is_virtual_function(*link)};
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
    const auto first = TEAMO_TRY(session.state());
    const auto counted = TEAMO_TRY(read_counted(first));
    auto frames = capture_multicast(first);
    auto sample = TEAMO_TRY(session.sample());
    if (frames) readings.repeated = repeated_frames(frames->take(), first.address);
    readings.before = std::move(sample.before);
    readings.state = std::move(sample.state);
    readings.rates = std::move(sample.rates);
    TEAMO_TRY(read_devices(readings));
    static const auto topology = read_cpu_topology().value_or(CpuTopology{}); // only notes need it
    readings.topology = topology;
    const auto counted_after = TEAMO_TRY(read_counted(readings.state));
    compare_counted(first, TEAMO_TRY(session.state()), counted, counted_after, readings);
    readings.configuration = TEAMO_TRY(session.document(control::ConfigDump{}));
    readings.actual = TEAMO_TRY(session.document(control::ConfigDumpActual{}));
    readings.installed = program_version;
    const auto process =
        static_cast<pid_t>(json::number(json::child(readings.state.document, "setup"), "pid"));
    if (const auto name = process_name(process); name && is_name_of_daemon(*name)) {
        readings.process = process;
        readings.unit = unit_of_process(process);
    }
    return readings;
}

struct TrialReading {
    PortCounters counters;
    CpuReading cpu{};
};

Result<TrialReading> read(Session& session, const std::string& name) {
    const auto state = TEAMO_TRY(session.state());
    const auto* port = find_port(state, name);
    if (port == nullptr) return fail(ENODEV, name + " is no longer a port");
    return TrialReading{port->counters, TEAMO_TRY(read_cpus())};
}

constexpr std::chrono::milliseconds settle_time{200}; ///< until packets on their way have left
constexpr std::chrono::seconds round_time{1};

Result<Round> measure_round(Session& session, const std::string& port, TrialState tso) {
    TEAMO_TRY(session.call(control::OffloadTry{port, tso}));
    std::this_thread::sleep_for(settle_time);
    const auto before = TEAMO_TRY(read(session, port));
    std::this_thread::sleep_for(round_time);
    const auto after = TEAMO_TRY(read(session, port));
    return round_of(payload_between(before.counters, after.counters), before.cpu, after.cpu);
}

Result<> measure_rounds(Session& session, Trial& trial) {
    const auto what = fmt::format("measures {} with TSO and without", trial.port);
    auto waiting = session.waits().usual(what, 2 * trial_pairs * (settle_time + round_time));
    trial.pairs.resize(trial_pairs);
    for (std::size_t number = 0; number < trial_pairs; ++number) {
        auto& pair = trial.pairs[number];
        waiting.detail(fmt::format("{}, {} of {}", what, number + 1, trial_pairs));
        pair.with = TEAMO_TRY(measure_round(session, trial.port, TrialState::on));
        pair.without = TEAMO_TRY(measure_round(session, trial.port, TrialState::off));
    }
    return {};
}

/// Measures the port's traffic alternately with TSO and without, a second each, then restores TSO. If this
/// process dies, the daemon restores it. An error if TSO cannot be switched.
Result<Trial> measure_tso(Session& session, const std::string& port) {
    Trial trial{.port = port};
    const auto measured = measure_rounds(session, trial);
    // Also after a failure: TSO may be switched off already.
    const auto ended = session.call(control::OffloadTry{port, TrialState::end});
    TEAMO_TRY(measured);
    TEAMO_TRY(ended);
    return trial;
}

/// The port of --measure, or the ports that may send more without TSO. Only the former must be measurable.
Result<> measure(Session& session, Readings& readings) {
    auto named = session.options().measure;
    if (named) named = device_name(*named).value_or(*named);
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

ExitStatus status_of(const Findings& findings) {
    const bool only_notes = std::ranges::all_of(
        findings, [](const Finding& finding) { return finding.severity == Severity::note; });
    return only_notes ? ExitStatus::success : ExitStatus::failure;
}

/// TSO is not measured: the team's own doctor does that, which takes longer.
Result<Findings> findings_of(Session& session) { return all_findings(TEAMO_TRY(read_all(session))); }

/// Its daemon does not answer, or is another one, or it could not be started.
Finding silence_of(const std::string& team, std::string text,
                   const std::vector<control::RefusedTeam>& refused) {
    if (text.starts_with(team + ": ")) text.erase(0, team.size() + 2);
    auto fix =
        fmt::format("systemctl status teamd-offload teamd-offload@{}  (one of them has the daemon)", team);
    if (const auto found = std::ranges::find(refused, team, &control::RefusedTeam::team);
        found != refused.end())
        fix = found->retried
                  ? "systemctl reload teamd-offload  (tries at once; otherwise it is tried again later)"
                  : fmt::format("correct {} or its cause, then: systemctl reload teamd-offload", found->file);
    return {Severity::error, team, std::move(text), std::move(fix)};
}

Result<Answers<Findings>> findings_of_all_teams(const Options& options) {
    const auto waiting = options.waits->usual("measures what all teams send", usual_patience());
    return ask_all_teams(options, findings_of);
}

} // namespace

CommandResult doctor(Session& session, Arguments) {
    auto readings = TEAMO_TRY(read_all(session));
    TEAMO_TRY(measure(session, readings));
    const auto findings = all_findings(readings);
    session.print(json_of(session.team(), findings, readings.trials), text_of(session.team(), findings));
    return status_of(findings);
}

CommandResult doctor_of_all_teams(const Options& options, Arguments) {
    std::vector<FindingsOfTeam> teams;
    json::Array documents;
    const auto answers = TEAMO_TRY(findings_of_all_teams(options));
    for (const auto& [team, findings] : answers.of_teams) {
        teams.push_back({team, findings
                                   ? *findings
                                   : Findings{silence_of(team, findings.error().text, answers.refused)}});
        documents.push_back(json_of(team, teams.back().findings, {}));
    }
    if (teams.empty()) return fail(ENOENT, "no team runs");
    const auto findings = merged(teams);
    if (options.json)
        print(options, std::move(documents));
    else
        put(text_of(teams, findings));
    return status_of(findings);
}

} // namespace teamo::ctl
