// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/doctor/findings.h"

#include "config/config_file.h"

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
    for (const auto& round : trial.rounds)
        rounds.push_back(Object{{"bytes_per_second", static_cast<std::int64_t>(std::llround(round.bytes))},
                                {"cpu_us_per_kib", hundredths(round.cpu_per_kib)},
                                {"tso", round.tso}});
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
    for (auto* findings :
         {carrying_findings, device_findings, drop_findings, balance_findings, trial_findings,
          benchmark_findings, placement_findings, interrupt_findings, aggregation_findings}) {
        const auto found = findings(readings);
        all.insert(all.end(), found.begin(), found.end());
    }
    std::ranges::stable_sort(all, {}, &Finding::severity);
    return all;
}

bool is_tso_disabled_by_config(const json::Value& configuration, std::string_view port) {
    const auto read = read_document(configuration, "");
    if (!read.configuration) return false;
    const auto& team = read.configuration->team;
    const auto own =
        std::ranges::find_if(team.ports, [port](const auto& entry) { return entry.first == port; });
    const auto& wishes = (own == team.ports.end() ? team.offload : own->second.offload).wishes;
    const auto wish = wishes.find(tso);
    return wish != wishes.end() && wish->second == OffloadWish::off;
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
