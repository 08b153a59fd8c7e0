// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What is wrong or slow about a team, as functions of its readings, one file for each subject; pure.
#pragma once

#include "ctl/doctor/repeated_frames.h"
#include "ctl/doctor/trial.h"
#include "ctl/report/load.h"
#include "model/balance.h"
#include "model/machine.h"
#include "model/offload.h"

namespace teamo::ctl {

enum class Severity : std::uint8_t { error, warning, note };
constexpr std::string_view name_of(Severity severity) {
    switch (severity) {
    case Severity::error: return "error";
    case Severity::warning: return "warning";
    case Severity::note: return "note";
    }
    return "?";
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
    bool up = false; ///< administratively
    std::uint32_t mtu = 0;
    Features features;
    std::uint64_t queue_dropped = 0; ///< packets dropped by its qdisc between the two states
};

struct Readings {
    TeamState before, state;                            ///< a second apart
    Rates rates;                                        ///< what the ports sent between the two states
    std::map<std::string, Device, std::less<>> devices; ///< the ports and the team, by name
    json::Value configuration;                          ///< as `config dump` has it
    std::vector<Trial> trials;
    std::map<std::string, DevicePlace, std::less<>> places{}; ///< of the ports, as far as /sys shows them
    CpuTopology topology{};                                   ///< empty: not known
    RepeatedFrames repeated{}; ///< between the two states; empty without CAP_NET_RAW
};

Findings carrying_findings(const Readings& readings); ///< carrying ports, links, speeds
Findings device_findings(const Readings& readings);   ///< MTU, TSO
Findings balance_findings(const Readings& readings);
Findings drop_findings(const Readings& readings);
Findings trial_findings(const Readings& readings);
Findings placement_findings(const Readings& readings);   ///< slots, PCI Express links, NUMA nodes
Findings interrupt_findings(const Readings& readings);   ///< from "interrupts" in the state
Findings aggregation_findings(const Readings& readings); ///< whether the switch aggregates the ports
Findings
benchmark_findings(const Readings& readings); ///< steps that gained nothing in `interrupts benchmark`

/// Share of a port's speed above which it may send less with TSO than without (HP measured that).
constexpr double near_saturation = 0.8;
/// The ports above near_saturation that use TSO.
std::vector<std::string> ports_to_measure(const Readings& readings);

/// All findings, worst first.
Findings all_findings(const Readings& readings);

/// Whether "offload" of the port or of the team sets the port's TSO to off.
bool is_tso_disabled_by_config(const json::Value& configuration, std::string_view port);

std::string text_of(const std::string& team, const Findings& findings);
json::Value json_of(const std::string& team, const Findings& findings, const std::vector<Trial>& trials);

} // namespace teamo::ctl
