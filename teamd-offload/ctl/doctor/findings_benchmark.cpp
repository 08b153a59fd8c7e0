// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/doctor/benchmark.h"
#include "ctl/doctor/findings.h"
#include "json/fields.h"

#include <fmt/format.h>

namespace teamo::ctl {
namespace {

using json::child;
using json::number;
using json::text;

BenchmarkResult read_benchmark(const json::Value& value) {
    const auto figure = [&value](const char* key) { return static_cast<std::uint64_t>(number(value, key)); };
    BenchmarkResult result{.bytes_without = figure("bytes_without"),
                           .bytes_with = figure("bytes_with"),
                           .cpu_without = figure("cpu_ns_per_kib_without"),
                           .cpu_with = figure("cpu_ns_per_kib_with")};
    for (const auto effect : {BenchmarkEffect::none, BenchmarkEffect::gain, BenchmarkEffect::loss})
        if (text(value, "effect") == name_of(effect)) result.effect = effect;
    return result;
}

} // namespace

Findings benchmark_findings(const Readings& readings) {
    Findings findings;
    const auto* steps = child(readings.state.document, "benchmarks").object();
    if (steps == nullptr) return findings;
    for (const auto& member : *steps) {
        const auto& step = member.key;
        const auto result = read_benchmark(member.value);
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
