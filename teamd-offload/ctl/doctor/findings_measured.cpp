// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What measurements with and without TSO found.
#include "ctl/doctor/findings.h"
#include "text/numbers.h"

#include <fmt/format.h>

namespace teamo::ctl {
namespace {

using enum Severity;

bool is_near_saturation(const PortStatus& port, double bytes_per_second) {
    return port.link.speed && bytes_per_second > near_saturation * *port.link.speed * bytes_per_megabit;
}

Finding faster_without_tso(const Trial& trial, const Comparison& comparison) {
    const auto cpu = comparison.with.cpu_per_kib > 0
                         ? fmt::format(", at {:.2f} instead of {:.2f} µs of CPU time per KiB",
                                       comparison.without.cpu_per_kib, comparison.with.cpu_per_kib)
                         : std::string();
    return {warning, trial.port,
            fmt::format("sends {:.1f} % more without TSO (measured, {} rounds){}", 100 * comparison.gain,
                        trial.pairs.size(), cpu),
            fmt::format(
                R"(in the configuration: "ports": {{"{}": {{"offload": {{"tx-tcp-segmentation": "off"}}}}}})",
                trial.port)};
}

/// The user asked for the measurement, so report its result. Without near saturation it shows little.
Finding not_faster_without_tso(const Readings& readings, const Trial& trial, const Comparison& comparison,
                               const std::string& again) {
    const bool unclear = comparison.gain > min_gain;
    const auto* port = find_port(readings.state, trial.port);
    const bool full = port != nullptr && is_near_saturation(*port, comparison.with.bytes);
    return {note, trial.port,
            fmt::format("sends {} with TSO, {} without ({} rounds of each): {}",
                        megabits(comparison.with.bytes), megabits(comparison.without.bytes),
                        trial.pairs.size(),
                        unclear ? "it may be slower with TSO, but rounds of the same kind differ as much"
                                : "it is not slower with TSO"),
            full && !unclear ? "leave TSO on" : "to be sure, " + again};
}

} // namespace

std::vector<std::string> ports_to_measure(const Readings& readings) {
    std::vector<std::string> ports;
    for (const auto& port : readings.state.ports) {
        const auto* rate = find(readings.rates, port.name);
        const auto* device = find(readings.devices, port.name);
        if (port.transmits && rate && device && device->features.active.contains(tso) &&
            is_near_saturation(port, *rate))
            ports.push_back(port.name);
    }
    return ports;
}

// HP measured a driver that sent 2 to 11 % less with TSO near saturation: the card waits for a large packet
// when it could send a small one.
Findings trial_findings(const Readings& readings) {
    Findings findings;
    for (const auto& trial : readings.trials) {
        const auto again =
            fmt::format("measure again when the port is nearly full: teamoctl {} doctor --measure={}",
                        readings.state.name, trial.port);
        const auto comparison = compare(trial);
        findings.push_back(
            !comparison ? Finding{note, trial.port, "sent nothing while TSO was measured", again}
            : comparison->beyond_noise ? faster_without_tso(trial, *comparison)
                                       : not_faster_without_tso(readings, trial, *comparison, again));
    }
    return findings;
}

} // namespace teamo::ctl
