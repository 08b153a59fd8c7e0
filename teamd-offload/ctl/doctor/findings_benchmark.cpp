// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/doctor/benchmark.h"
#include "ctl/doctor/findings.h"

#include <fmt/format.h>

namespace teamo::ctl {
Findings benchmark_findings(const Readings& readings) {
    Findings findings;
    for (const auto& [step, result] : readings.state.benchmarks) {
        if (result.effect != BenchmarkEffect::none && result.effect != BenchmarkEffect::loss) continue;
        auto what = text_of(step, result);
        what.pop_back(); // the line feed
        findings.push_back(Finding{
            result.effect == BenchmarkEffect::loss ? Severity::warning : Severity::note, readings.state.name,
            "interrupts benchmark measured: " + what,
            step == "interrupts"
                ? R"(in the configuration: "interrupts": {"policy": "off"})"
                : R"(in the configuration: remove the rule from "workers", or set its "policy" to "off")"});
    }
    return findings;
}

} // namespace teamo::ctl
