// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/doctor/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace teamo::ctl {
namespace {

using json::Object;
using json::Value;

Value hundredths(double figure) { return std::round(figure * 100) / 100; }

Value trial_json(const Trial& trial) {
    json::Array rounds;
    const auto add = [&rounds](const Round& round, bool tso) {
        rounds.push_back(Object{{"bytes_per_second", static_cast<std::int64_t>(std::llround(round.bytes))},
                                {"cpu_us_per_kib", hundredths(round.cpu_per_kib)},
                                {"tso", tso}});
    };
    for (const auto& pair : trial.pairs) {
        add(pair.with, true);
        add(pair.without, false);
    }
    Value document = Object{{"port", trial.port}, {"rounds", std::move(rounds)}};
    if (const auto comparison = compare(trial)) {
        document.set("without_tso_percent", hundredths(100 * comparison->gain));
        document.set("beyond_noise", comparison->beyond_noise);
    }
    return document;
}

} // namespace

Findings all_findings(const Readings& readings) {
    Findings all;
    for (auto* findings : {carrying_findings, device_findings, program_findings, drop_findings,
                           balance_findings, trial_findings, placement_findings, redundancy_findings,
                           interrupt_findings, aggregation_findings}) {
        const auto found = findings(readings);
        all.insert(all.end(), found.begin(), found.end());
    }
    std::ranges::stable_sort(all, {}, &Finding::severity);
    return all;
}

std::string text_of(const std::string& team, const Findings& findings) {
    if (findings.empty()) return fmt::format("{}: nothing is wrong\n", team);
    std::string text;
    for (const auto& finding : findings)
        text += fmt::format("{}: {}: {}\n    {}\n", name_of(finding.severity), finding.where, finding.what,
                            finding.fix);
    return text;
}

json::Value json_of(const std::string& team, const Findings& findings, const std::vector<Trial>& trials) {
    json::Array list, measured;
    for (const auto& finding : findings)
        list.push_back(Object{{"fix", finding.fix},
                              {"severity", name_of(finding.severity)},
                              {"what", finding.what},
                              {"where", finding.where}});
    for (const auto& trial : trials)
        measured.push_back(trial_json(trial));
    return Object{{"findings", std::move(list)}, {"measured", std::move(measured)}, {"team", team}};
}

} // namespace teamo::ctl
