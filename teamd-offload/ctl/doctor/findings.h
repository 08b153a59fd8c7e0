// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What is wrong or slow about a team: functions of what was read of it, one file by subject; pure.
#pragma once

#include "ctl/doctor/repeated_frames.h"
#include "ctl/doctor/trial.h"
#include "ctl/report/load.h"
#include "model/cpus.h"
#include "model/features.h"
#include "model/pci_location.h"
#include "model/queue.h"

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

/// One of the team's devices as the kernel shows it.
struct Device {
    bool up = false; ///< administratively
    std::uint32_t mtu = 0;
    Features features;
    std::uint64_t queue_dropped = 0; ///< by its qdisc, in the second that was looked at
};

struct Readings {
    TeamState before, state;                            ///< a second apart
    Rates rates;                                        ///< what the ports sent in it
    std::map<std::string, Device, std::less<>> devices; ///< the ports and the team, by name
    json::Value configuration;                          ///< as `config dump` has it
    std::vector<Trial> trials;
    std::map<std::string, DevicePlace, std::less<>> places{}; ///< the ports', as far as /sys shows them
    CpuTopology topology{};                                   ///< empty: not known
    RepeatedFrames repeated{}; ///< in that second; none seen where it may not be listened to
};

Findings carrying_findings(const Readings& readings); ///< who carries, links, speeds
Findings device_findings(const Readings& readings);   ///< MTU, TSO
Findings balance_findings(const Readings& readings);
Findings drop_findings(const Readings& readings);
Findings trial_findings(const Readings& readings);
Findings placement_findings(const Readings& readings);   ///< slots, PCI Express links, NUMA nodes
Findings interrupt_findings(const Readings& readings);   ///< from the state document's "interrupts"
Findings aggregation_findings(const Readings& readings); ///< what the far end makes of the ports
Findings
benchmark_findings(const Readings& readings); ///< what `interrupts benchmark` has found to buy nothing

/// From where on a driver may send less with TSO than without, as a share of its speed.
constexpr double near_saturation = 0.8;
/// The ports that are so busy, and use TSO.
std::vector<std::string> ports_to_measure(const Readings& readings);

/// All of them, worst first.
Findings all_findings(const Readings& readings);

/// Whether the configuration has the port's TSO off: in its own "offload" or in the team's.
bool tso_is_unwanted(const json::Value& configuration, std::string_view port);

std::string text_of(const std::string& team, const Findings& findings);
json::Value json_of(const std::string& team, const Findings& findings, const std::vector<Trial>& trials);

} // namespace teamo::ctl
