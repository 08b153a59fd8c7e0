// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/findings.h"
#include "ctl/units.h"

#include <fmt/format.h>

#include <algorithm>

namespace teamo::ctl {
namespace {

using enum Severity;

bool is_near_saturation(const PortStatus& port, double bytes_per_second) {
    return port.link.speed && bytes_per_second > near_saturation * *port.link.speed * bytes_per_megabit;
}

Finding better_without(const Trial& trial, const Comparison& comparison) {
    const auto cpu = comparison.cpu_with > 0
                         ? fmt::format(", at {:.2f} instead of {:.2f} µs of CPU time per KiB",
                                       comparison.cpu_without, comparison.cpu_with)
                         : std::string();
    return {warning, trial.port,
            fmt::format("sends {:.1f} % more without TSO (measured, {} rounds){}", 100 * *comparison.gain,
                        comparison.rounds, cpu),
            fmt::format(
                R"(in the configuration: "ports": {{"{}": {{"offload": {{"tx-tcp-segmentation": "off"}}}}}})",
                trial.port)};
}

/// It was asked for, so it is answered; what did not come near saturation proves little.
Finding not_better_without(const Readings& readings, const Trial& trial, const Comparison& comparison) {
    const auto* port = find_port(readings.state, trial.port);
    const bool proves = port != nullptr && is_near_saturation(*port, comparison.with);
    return {note, trial.port,
            fmt::format("does not do better without TSO (measured, {} rounds): {} with it, {} without",
                        comparison.rounds, megabits(comparison.with), megabits(comparison.without)),
            proves ? std::string("leave TSO on")
                   : fmt::format("to be sure, when it is nearly full: teamoctl {} doctor --measure={}",
                                 readings.state.name, trial.port)};
}

} // namespace

std::vector<std::string> ports_to_measure(const Readings& readings) {
    std::vector<std::string> ports;
    for (const auto& port : readings.state.ports) {
        const auto rate = readings.rates.find(port.name);
        const auto device = readings.devices.find(port.name);
        if (port.transmits && rate != readings.rates.end() && device != readings.devices.end() &&
            device->second.features.active.contains("tx-tcp-segmentation") &&
            is_near_saturation(port, rate->second))
            ports.push_back(port.name);
    }
    return ports;
}

// One driver of HP's sent 2 to 11 % less with TSO near saturation: the card waits for a large packet where it
// could have sent a small one.
Findings trial_findings(const Readings& readings) {
    Findings findings;
    for (const auto& trial : readings.trials) {
        const auto comparison = compare(trial);
        if (!comparison)
            findings.push_back({note, trial.port, "nothing was sent by it while TSO was measured",
                                fmt::format("when it is nearly full: teamoctl {} doctor --measure={}",
                                            readings.state.name, trial.port)});
        else
            findings.push_back(comparison->gain ? better_without(trial, *comparison)
                                                : not_better_without(readings, trial, *comparison));
    }
    return findings;
}

} // namespace teamo::ctl
