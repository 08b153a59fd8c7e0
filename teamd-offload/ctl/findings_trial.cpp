// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/findings.h"

#include <fmt/format.h>

namespace teamo::ctl {

// One driver of HP's sent 2 to 11 % less with TSO near saturation: the card waits for a large packet where it
// could have sent a small one.
Findings trial_findings(const Readings& readings) {
    Findings findings;
    for (const auto& trial : readings.trials) {
        const auto comparison = compare(trial);
        if (!comparison || !comparison->gain) continue;
        const auto cpu = comparison->cpu_with > 0
                             ? fmt::format(", at {:.2f} instead of {:.2f} µs of CPU time per KiB",
                                           comparison->cpu_without, comparison->cpu_with)
                             : std::string();
        findings.push_back(
            {Severity::warning, trial.port,
             fmt::format("sends {:.1f} % more without TSO (measured, {} rounds){}", 100 * *comparison->gain,
                         comparison->rounds, cpu),
             fmt::format(
                 R"(in the configuration: "ports": {{"{}": {{"offload": {{"tx-tcp-segmentation": "off"}}}}}})",
                 trial.port)});
    }
    return findings;
}

} // namespace teamo::ctl
