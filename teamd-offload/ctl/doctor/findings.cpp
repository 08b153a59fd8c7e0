// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/doctor/findings.h"

#include "text/numbers.h"

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

std::string lines_of(const Findings& findings) {
    std::string text;
    for (const auto& finding : findings)
        text += fmt::format("{}: {}: {}\n    {}\n", name_of(finding.severity), finding.where, finding.what,
                            finding.fix);
    return text;
}

} // namespace

Findings all_findings(const Readings& readings) {
    Findings all;
    for (auto* findings : {carrying_findings, device_findings, program_findings, drop_findings,
                           balance_findings, trial_findings, placement_findings, redundancy_findings,
                           interrupt_findings, aggregation_findings, version_findings}) {
        const auto found = findings(readings);
        all.insert(all.end(), found.begin(), found.end());
    }
    std::ranges::stable_sort(all, {}, &Finding::severity);
    return all;
}

Findings merged(std::span<const FindingsOfTeam> teams) {
    Findings all;
    for (const auto& [team, findings] : teams)
        for (auto finding : findings) {
            const bool of_team = finding.where == team;
            if (!of_team) finding.where.insert(0, team + ": "); // no name of a device has a colon
            const auto same = std::ranges::find_if(all, [&](const Finding& one) {
                return of_team && one.where.find(':') == std::string::npos && one.what == finding.what &&
                       one.fix == finding.fix && one.severity == finding.severity;
            });
            if (same == all.end())
                all.push_back(std::move(finding));
            else
                same->where += ", " + team;
        }
    std::ranges::stable_sort(all, {}, &Finding::severity);
    return all;
}

std::string text_of(const std::string& team, const Findings& findings) {
    return findings.empty() ? fmt::format("{}: nothing is wrong\n", team) : lines_of(findings);
}

std::string text_of(std::span<const FindingsOfTeam> teams, const Findings& findings) {
    const auto well = static_cast<std::size_t>(
        std::ranges::count_if(teams, [](const FindingsOfTeam& one) { return one.findings.empty(); }));
    return lines_of(findings) +
           (well == 0 ? "" : fmt::format("nothing is wrong with {}\n", counted(well, "team", "teams")));
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
