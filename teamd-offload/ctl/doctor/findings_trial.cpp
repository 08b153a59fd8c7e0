// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/doctor/findings.h"
#include "ctl/units.h"

#include <fmt/format.h>

#include <algorithm>

namespace teamo::ctl {
namespace {

using enum Severity;

bool is_near_saturation(const PortStatus& port, double bytes_per_second) {
    return port.link.speed && bytes_per_second > near_saturation * *port.link.speed * bytes_per_megabit;
}

Finding faster_without_tso(const Trial& trial, const Comparison& comparison) {
    const auto cpu = comparison.cpu_with > 0
                         ? fmt::format(", at {:.2f} instead of {:.2f} µs of CPU time per KiB",
                                       comparison.cpu_without, comparison.cpu_with)
                         : std::string();
    return {warning, trial.port,
            fmt::format("sends {:.1f} % more without TSO (measured, {} rounds){}", 100 * comparison.gain,
                        comparison.rounds, cpu),
            fmt::format(
                R"(in the configuration: "ports": {{"{}": {{"offload": {{"tx-tcp-segmentation": "off"}}}}}})",
                trial.port)};
}

std::string measure_command(const Readings& readings, const Trial& trial) {
    return fmt::format("measure again when the port is nearly full: teamoctl {} doctor --measure={}",
                       readings.state.name, trial.port);
}

/// The user asked for the measurement, so report its result. Without near saturation it proves little.
Finding not_faster_without_tso(const Readings& readings, const Trial& trial, const Comparison& comparison) {
    const bool unclear = comparison.gain > min_gain;
    const auto figures = fmt::format("(measured, {} rounds): {} with it, {} without", comparison.rounds,
                                     megabits(comparison.with), megabits(comparison.without));
    const auto* port = find_port(readings.state, trial.port);
    const bool full = port != nullptr && is_near_saturation(*port, comparison.with);
    return {note, trial.port,
            unclear ? fmt::format("may send more without TSO {}, but rounds of the same kind differ as much",
                                  figures)
                    : fmt::format("does not send more without TSO {}", figures),
            full && !unclear ? "leave TSO on" : "to be sure, " + measure_command(readings, trial)};
}

} // namespace

std::vector<std::string> ports_to_measure(const Readings& readings) {
    std::vector<std::string> ports;
    for (const auto& port : readings.state.ports) {
        const auto rate = readings.rates.find(port.name);
        const auto device = readings.devices.find(port.name);
        if (port.transmits && rate != readings.rates.end() && device != readings.devices.end() &&
            device->second.features.active.contains(tso) && is_near_saturation(port, rate->second))
            ports.push_back(port.name);
    }
    return ports;
}

// HP measured a driver that sent 2 to 11 % less with TSO near saturation: the card waits for a large packet
// when it could send a small one.
Findings trial_findings(const Readings& readings) {
    Findings findings;
    for (const auto& trial : readings.trials) {
        const auto comparison = compare(trial);
        if (!comparison)
            findings.push_back(
                {note, trial.port, "sent nothing while TSO was measured", measure_command(readings, trial)});
        else
            findings.push_back(comparison->beyond_noise
                                   ? faster_without_tso(trial, *comparison)
                                   : not_faster_without_tso(readings, trial, *comparison));
    }
    return findings;
}

} // namespace teamo::ctl
