// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What is wrong or slow about a team, as functions of its readings, one file for each subject; pure.
#pragma once

#include "ctl/doctor/rounds.h"
#include "ctl/report/state.h"
#include "kernel/packets/packet_socket.h"
#include "model/balance.h"
#include "model/machine.h"
#include "model/offload.h"
#include <set>
#include <span>

namespace teamo::ctl {

enum class Severity : std::uint8_t { error, warning, note };
constexpr std::string_view name_of(Severity severity) {
    constexpr std::array names{"error", "warning", "note"};
    return names[static_cast<std::size_t>(severity)];
}

struct Finding {
    Severity severity = Severity::note;
    std::string where; ///< the team, or one of its ports
    std::string what;
    std::string fix; ///< a command, or what to change where
    bool operator==(const Finding&) const = default;
};
using Findings = std::vector<Finding>;

/// The team device or a port, as the kernel shows it.
struct Device {
    std::vector<std::string> altnames{};
    bool up = false; ///< administratively
    std::uint32_t mtu = 0;
    Features features{};
    std::uint64_t queue_dropped = 0; ///< packets dropped by its qdisc between the two states
    bool has_xdp = false;
    bool distrusts_tso = false;       ///< its driver leaves TSO off by default
    bool is_virtual_function = false; ///< see device_files.h
    std::uint64_t received = 0;       ///< packets, as the device counts them, within the time of `seen`
    std::uint64_t seen = 0;           ///< of these, by our program on a port
};

/// Evidence that the switch does not aggregate the ports: a switch that does never sends the same frame by
/// two of them, nor the team's own frames back.
struct RepeatedFrames {
    std::size_t different = 0;  ///< frames, each counted once, without the team's own
    std::size_t duplicated = 0; ///< of these, frames that arrived by several ports at about the same time
    std::size_t own = 0;        ///< frames from the team's own address
    std::size_t broadcasts = 0; ///< of `different`
    std::set<IfIndex> ports{};  ///< where duplicated and own frames arrived
    bool operator==(const RepeatedFrames&) const = default;
};

/// Frames with equal bytes are one frame only if they arrive within a few milliseconds: a sender may repeat a
/// frame soon, and a switch that aggregates may then choose another port.
RepeatedFrames repeated_frames(std::span<const GroupFrame> frames, const MacAddress& own);

struct Readings {
    TeamState before, state;                            ///< a second apart
    Rates rates;                                        ///< what the ports sent between the two states
    std::map<std::string, Device, std::less<>> devices; ///< the ports and the team, by name
    json::Value configuration;                          ///< as `config dump` has it
    json::Value actual;                                 ///< as `config dump actual` has it
    std::vector<Trial> trials;
    std::map<std::string, DevicePlace, std::less<>> places{}; ///< of the ports, as far as /sys shows them
    CpuTopology topology{};                                   ///< empty: not known
    RepeatedFrames repeated{}; ///< between the two states; empty without CAP_NET_RAW
    std::string installed{};   ///< version of this program
    pid_t process = 0;         ///< the daemon's; 0: none that is seen here, as from another PID namespace
    std::string unit{};        ///< of the daemon; empty: none, or not known
};

/// The unit to restart for a change of the daemon's own; that of one team if it is not known. With
/// ".service".
std::string unit_to_restart(const Readings& readings);

Findings version_findings(const Readings& readings);  ///< a daemon that was not restarted after an upgrade
Findings carrying_findings(const Readings& readings); ///< carrying ports, links, speeds
Findings device_findings(const Readings& readings);   ///< MTU, TSO
Findings drop_findings(const Readings& readings);
Findings program_findings(const Readings& readings); ///< BPF programs that are lost, or behind others
Findings balance_findings(const Readings& readings);
Findings trial_findings(const Readings& readings);
Findings placement_findings(const Readings& readings);   ///< slots, PCI Express links, NUMA nodes
Findings redundancy_findings(const Readings& readings);  ///< what all ports share; switches
Findings interrupt_findings(const Readings& readings);   ///< from "interrupts" in the state
Findings aggregation_findings(const Readings& readings); ///< whether the switch aggregates the ports

/// All findings, worst first.
Findings all_findings(const Readings& readings);

/// Share of a port's speed above which it may send less with TSO than without (HP measured that).
constexpr double near_saturation = 0.8;
/// The ports above near_saturation that use TSO.
std::vector<std::string> ports_to_measure(const Readings& readings);

/// Whether it balances without a group (LAG) of its ports at the switch: with slb, and a bond of others in
/// balance-tlb or balance-alb.
bool balances_alone(const TeamState& state);

/// The value in a map; nullptr: none.
template <class Map, class Key>
auto* find(Map& map, const Key& key) {
    const auto found = map.find(key);
    return found == map.end() ? nullptr : &found->second;
}

struct FindingsOfTeam {
    std::string team;
    Findings findings;
};
/// Those of several teams, worst first. Each names its team; what is the same about several teams, such as a
/// property of the machine, is said once.
Findings merged(std::span<const FindingsOfTeam> teams);

std::string text_of(const std::string& team, const Findings& findings);
/// `findings`: merged(teams).
std::string text_of(std::span<const FindingsOfTeam> teams, const Findings& findings);
json::Value json_of(const std::string& team, const Findings& findings, const std::vector<Trial>& trials);

} // namespace teamo::ctl
