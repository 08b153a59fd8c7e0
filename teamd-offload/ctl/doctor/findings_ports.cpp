// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Whether the ports carry, what their devices lack, and what they drop.
#include "config/config_file.h"
#include "ctl/doctor/findings.h"
#include "model/offload.h"
#include "text/numbers.h"
#include "json/fields.h"

#include <fmt/format.h>

#include <algorithm>

namespace teamo::ctl {
namespace {

using enum Severity;

/// The command that makes a device a port. Bonding refuses one that is up (bond_main.c: bond_enslave).
std::string command_to_add(const TeamState& state, std::string_view device) {
    if (!state.attached) return fmt::format("teamoctl {} port add {}", state.name, device);
    return fmt::format("ip link set {0} down; ip link set {0} master {1}", device, state.name);
}

void add_of_team(const Readings& readings, Findings& findings) {
    const auto& state = readings.state;
    if (const auto* team = find(readings.devices, state.name); team != nullptr && !team->up) {
        findings.push_back({error, state.name, "is administratively down: it cannot send or receive",
                            fmt::format("ip link set {} up", state.name)});
        return; // the ports may have no link because of that
    }
    const auto able = carriers(state);
    const auto add = [&](Severity severity, std::string what, std::string fix) {
        findings.push_back({severity, state.name, std::move(what), std::move(fix)});
    };
    const auto show = fmt::format("teamoctl {} state", state.name);
    const auto add_port = command_to_add(state, "DEVICE");
    if (state.ports.empty())
        add(error, "has no port: it cannot send or receive", add_port);
    else if (std::ranges::none_of(state.ports, &PortStatus::transmits))
        add(error, "no port carries: the team cannot send or receive", show);
    else if (state.ports.size() == 1)
        add(note, able.front()->name + " is its only port: if it fails, the team fails", add_port);
    else if (able.size() == 1)
        add(warning,
            fmt::format("of its {0} ports only {1} can carry: if {1} fails, the team fails",
                        state.ports.size(), able.front()->name),
            show);
}

/// The team has fewer ports than it must have.
void add_withheld(const Readings& readings, Findings& findings) {
    const auto& state = readings.state;
    const auto* team = find(readings.devices, state.name);
    const auto sending = std::ranges::count_if(state.ports, &PortStatus::transmits);
    if (state.min_ports < 2 || state.link.up || sending == 0 || (team != nullptr && !team->up)) return;
    // With LACP only the ports of one aggregator count.
    const auto able = state.runner == "lacp" ? sending : std::ssize(carriers(state));
    findings.push_back({error, state.name,
                        fmt::format("has no carrier, because {} of its ports can carry and runner.min_ports "
                                    "is {}",
                                    able, state.min_ports),
                        fmt::format("teamoctl {} state  (add a port, or lower min_ports)", state.name)});
}

/// A bond of others that bonding steers itself.
void add_attached(const AttachedStatus& attached, const TeamState& state, Findings& findings) {
    if (attached.unsteered == Unsteered::nothing) return;
    const bool is_fault = attached.unsteered == Unsteered::owner ||
                          attached.unsteered == Unsteered::refused ||
                          attached.unsteered == Unsteered::programs ||
                          attached.unsteered == Unsteered::slaves || attached.unsteered == Unsteered::arp;
    findings.push_back(
        {is_fault ? warning : note, state.name, text_of(attached), cure_of(attached, state.name)});
}

/// Not seen, a lost link costs packets until the daemon handles it.
void add_link_sight(const TeamState& state, Findings& findings) {
    if (state.attached) return add_attached(*state.attached, state, findings);
    if (state.kernel_hashes) {
        findings.push_back({note, state.name,
                            "bonding chooses the ports by its own hash, because device TLS is required: "
                            "balancing has no effect, and a lost link costs packets for up to 20 ms",
                            "remove \"tls-hw-tx-offload\": \"require\" if device TLS is not worth it"});
        return;
    }
    if (state.link_sight.sees || state.link_sight.reason.empty() || state.ports.size() < 2) return;
    if (state.device_kind == "bond" && !state.counts_by_program) return; // `refused` says why
    findings.push_back({note, state.name,
                        fmt::format("when a port loses its link, its packets are lost until the daemon takes "
                                    "the port out of use: {}",
                                    state.link_sight.reason),
                        state.datapath == "team"
                            ? "\"datapath\": \"bond\" or \"bpf\" in the configuration, on kernel 6.2 or later"
                            : "use kernel 6.2 or later"});
}

/// What the daemon found.
void add_loss(const TeamState& state, Findings& findings) {
    for (const auto& port : state.ports) {
        if (port.loss.what.empty()) continue;
        findings.push_back(
            {warning, port.name, port.loss.what,
             port.loss.watched
                 ? fmt::format("check cable, plug and switch port: ethtool -S {}", port.name)
                 : fmt::format(
                       R"(check cable, plug and switch port; "link_watch": {{"name": "loss"}} for {} )"
                       "uses other ports meanwhile",
                       port.name)});
    }
}

void add_damped(const TeamState& state, Findings& findings) {
    for (const auto& port : state.ports)
        if (port.damping && port.damping->suppressed)
            findings.push_back({warning, port.name,
                                "loses its link again and again, and is used only while no other port can "
                                "(link_watch.damping)",
                                fmt::format("check cable, plug and switch port: ethtool -S {}", port.name)});
}

/// Somebody wants this, and may have forgotten it.
void add_drain(const TeamState& state, const PortStatus& port, Findings& findings) {
    const auto& drain = port.drain;
    if (drain.phase == DrainPhase::none) return;
    const bool is_done = drain.phase == DrainPhase::drained;
    findings.push_back({is_done ? note : warning, port.name,
                        is_done ? fmt::format("is drained, {}: it carries nothing{}",
                                              drain.by_hand ? "by hand" : "by the configuration",
                                              drain.forced ? "" : " while another port can")
                                : "is to be drained, but " + text_of(drain),
                        fmt::format("to use it again: teamoctl {} port undrain {}", state.name, port.name)});
}

void add_link(const Readings& readings, const PortStatus& port, Findings& findings) {
    const auto add = [&](Severity severity, std::string what, std::string fix) {
        findings.push_back({severity, port.name, std::move(what), std::move(fix)});
    };
    const auto* device = find(readings.devices, port.name);
    // Balancing places loads by capacity, and can only guess that of a port without a speed or a weight.
    const bool guesses =
        readings.state.balance && readings.state.balance->config.on && !has_weights(readings.state);
    if (device != nullptr && !device->up)
        add(warning, "is administratively down", fmt::format("ip link set {} up", port.name));
    else if (!port.link.up)
        add(warning, "has no link: check the cable and the port of the switch", "ethtool " + port.name);
    else if (!port.link_up)
        add(warning, "has a link, but its link watches report it as down",
            fmt::format("teamoctl -v {} state", readings.state.name));
    else if (!port.link.speed)
        add(guesses ? warning : note,
            "its speed is unknown, so balancing can only guess its share, and doctor cannot check it",
            fmt::format("ethtool {0}  (only for a virtual device: ethtool -s {0} speed SPEED duplex full)",
                        port.name));
}

/// Whether "offload" of the port or of the team sets the port's TSO to off.
bool is_tso_disabled_by_config(const json::Value& configuration, std::string_view port,
                               const Device& device) {
    const auto read = read_document(configuration, {}, DatapathChoice::automatic);
    if (!read.configuration) return false;
    const auto& team = read.configuration->team;
    const auto own = std::ranges::find_if(team.ports, [&](const auto& configured) {
        return configured.first == port || std::ranges::count(device.altnames, configured.first) != 0;
    });
    const auto* wish = find((own == team.ports.end() ? team.offload : own->second.offload).wishes, tso);
    return wish != nullptr && *wish == OffloadWish::off;
}

void add_mtu(const std::string& name, const Device& port, const std::string& team_name, const Device& team,
             Findings& findings) {
    if (port.mtu == team.mtu) return;
    // A smaller MTU drops larger packets; a larger one only differs from the configuration.
    findings.push_back({port.mtu < team.mtu ? error : warning, name,
                        fmt::format("its MTU is {}, the MTU of {} is {}", port.mtu, team_name, team.mtu),
                        fmt::format("ip link set {} mtu {}", name, team.mtu)});
}

void add_tso(const std::string& name, const Device& device, std::string_view cost, Findings& findings) {
    if (device.features.active.empty() || device.features.active.contains(tso)) return;
    if (device.distrusts_tso)
        findings.push_back(
            {note, name,
             fmt::format("TSO is off: {}; its driver leaves it off because of faults of some cards", cost),
             R"(at your own risk, in the configuration of the port: "offload": {"tx-tcp-segmentation": "require"})"});
    else if (device.features.changeable.contains(tso))
        findings.push_back(
            {warning, name, fmt::format("TSO is off: {}", cost), fmt::format("ethtool -K {} tso on", name)});
    else
        findings.push_back({note, name, fmt::format("has no TSO: {}", cost),
                            fmt::format("ethtool -i {}  (another driver or device may have TSO)", name)});
}

/// i40e, ice, ixgbe, igb: an untrusted function accepts IFF_ALLMULTI and gets the groups that it lists alone.
void add_multicast(const Readings& readings, const std::string& name, Findings& findings) {
    if (readings.state.datapath != "bpf" || !readings.devices.at(name).is_virtual_function) return;
    findings.push_back({note, name,
                        "is a virtual function (SR-IOV): it receives the team's multicast, which IPv6 "
                        "needs, only if the host trusts it",
                        R"(on the host: ip link set CARD vf NUMBER trust on, or here: "datapath": "bond")"});
}

void add_received(const Readings& readings, const PortStatus& port, Findings& findings) {
    const auto more = growth_of(&PortCounters::rx_dropped, port, readings.before).value_or(0);
    // A backup port drops what the switch floods, and with slb every port does: that is normal.
    const auto& runner = readings.state.runner;
    if (more == 0 || runner == "activebackup" || (runner == "slb" && readings.state.counts_by_program))
        return;
    const auto dropped = counted(more, "packet", "packets");
    if (!readings.state.counts_by_program) // then the device counts, for other reasons
        findings.push_back(
            {warning, port.name, fmt::format("the device dropped {} that arrived in a second", dropped),
             fmt::format("ethtool -S {0}  (says where; more buffers: ethtool -G {0} rx N)", port.name)});
    else
        findings.push_back(
            {warning, port.name,
             fmt::format("dropped {} that arrived in a second, because the port does not carry", dropped),
             fmt::format("teamoctl {} state  (the switch sends to a port that does not carry)",
                         readings.state.name)});
}

/// Of a bond that is steered by hash, within a second: headers of segments, which the program does not count,
/// are less.
void add_unsteered(const Readings& readings, const PortStatus& port, Findings& findings) {
    constexpr double most_share = 0.2;
    constexpr std::uint64_t least = 1'000'000; // bytes
    const auto* before = find_port(readings.before, port.name);
    const auto sent = growth_of(&PortCounters::tx_bytes, port, readings.before).value_or(0);
    const auto& steered = port.counters.tx_steered_bytes;
    if (before == nullptr || !steered || !before->counters.tx_steered_bytes || sent < least) return;
    const auto by_us = *steered - std::min(*steered, *before->counters.tx_steered_bytes);
    const auto share = 1 - static_cast<double>(std::min(by_us, sent)) / static_cast<double>(sent);
    if (share < most_share) return;
    findings.push_back({note, port.name,
                        fmt::format("{:.0f} % of what it sends is not steered and not balanced", 100 * share),
                        "no program of ours sees what AF_XDP, RoCE, virtual functions and packet sockets "
                        "without a qdisc send"});
}

/// drivers/net/team/team_core.c: team_queue_override_transmit() sends a refused packet again.
void add_queue_override(const Readings& readings, Findings& findings) {
    if (readings.state.datapath != "team") return;
    const auto read = read_document(readings.configuration, {}, DatapathChoice::automatic);
    if (!read.configuration) return;
    for (const auto& [name, port] : read.configuration->team.ports)
        if (port.queue_id)
            findings.push_back(
                {warning, name,
                 "has a queue_id, with which the kernel can crash when the port loses its link",
                 fmt::format("in the configuration: remove /ports/{}/queue_id", name)});
}

/// Configured ports that the team does not have. Those that the kernel refused are findings of their own. A
/// port keeps the name of the configuration if its device is renamed.
void add_missing(const Readings& readings, Findings& findings) {
    const auto& state = readings.state;
    const auto& present = json::child(readings.actual, "ports");
    if (present.object() == nullptr) return;
    for (const auto& member : json::object(readings.configuration, "ports")) {
        const auto& name = member.key;
        if (present.find(name) != nullptr ||
            std::ranges::find(state.refused, name, &RefusedStatus::where) != state.refused.end())
            continue;
        findings.push_back(
            {warning, name,
             "is configured, but is not a port; possible causes: the device does not exist, a command or "
             "another program removed the port, or the daemon was started with -n",
             fmt::format("ip link show {}  (to add it: {})", name, command_to_add(state, name))});
    }
}

} // namespace

Findings carrying_findings(const Readings& readings) {
    Findings findings;
    add_of_team(readings, findings);
    add_withheld(readings, findings);
    add_missing(readings, findings);
    add_link_sight(readings.state, findings);
    add_queue_override(readings, findings);
    add_loss(readings.state, findings);
    add_damped(readings.state, findings);
    for (const auto& port : readings.state.ports)
        add_link(readings, port, findings);
    for (const auto& port : readings.state.ports)
        add_drain(readings.state, port, findings);
    return findings;
}

Findings device_findings(const Readings& readings) {
    Findings findings;
    const auto& state = readings.state;
    for (const auto& refused : state.refused)
        findings.push_back(
            {error, refused.where, refused.what,
             fmt::format("journalctl TEAM={}{}", state.name,
                         refused.where == state.name
                             ? ""
                             : "  (the daemon tries again when the cause may be gone, and every "
                               "30 seconds)")});
    const auto* team = find(readings.devices, state.name);
    if (team == nullptr) return findings;
    add_tso(state.name, *team, "the CPU segments every packet before a port gets it", findings);
    for (const auto& port : state.ports) {
        const auto* device = find(readings.devices, port.name);
        if (device == nullptr) continue;
        add_multicast(readings, port.name, findings);
        add_mtu(port.name, *device, state.name, *team, findings);
        if (!is_tso_disabled_by_config(readings.configuration, port.name, *device))
            add_tso(port.name, *device, "the CPU segments what leaves by it", findings);
    }
    return findings;
}

Findings drop_findings(const Readings& readings) {
    Findings findings;
    for (const auto& port : readings.state.ports) {
        add_received(readings, port, findings);
        add_unsteered(readings, port, findings);
        const auto* device = find(readings.devices, port.name);
        if (device == nullptr || device->queue_dropped == 0) continue;
        const auto packets = counted(device->queue_dropped, "packet", "packets");
        findings.push_back({warning, port.name, fmt::format("its qdisc dropped {} in a second", packets),
                            fmt::format("tc -s qdisc show dev {}", port.name)});
    }
    return findings;
}

} // namespace teamo::ctl
