// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/summary.h"

#include "text/numbers.h"
#include "json/quote.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace teamo::bench {

bool was_measured(const Results& results) {
    return std::ranges::any_of(results.cases, [](const Measured& one) { return !one.rounds.empty(); });
}

std::string repeatability(const std::vector<Comparison>& comparisons) {
    const auto repeated =
        std::ranges::count_if(comparisons, [](const Comparison& one) { return one.ratio.rounds > 1; });
    const auto agreeing = std::ranges::count_if(
        comparisons, [](const Comparison& one) { return one.ratio.rounds > 1 && agrees(one.ratio); });
    if (comparisons.empty()) return "no two cases compare";
    if (repeated == 0) return "one round: not known whether the ratios repeat";
    return fmt::format("{} of {} ratios agree within {:.0f} % over their rounds", agreeing, repeated,
                       100 * agreement);
}

bool has_energy(const Results& results) {
    return std::ranges::any_of(results.cases, [&](const Measured& measured) {
        return spread_of(measured, basis_of(results), joules_per_gb).has_value();
    });
}

std::string_view no_energy_text(const Results& results) {
    return results.machine.meter_needs_root ? "the meter (RAPL) needs root" : "no meter (RAPL)";
}

std::string basis_text(const Results& results) {
    constexpr std::string_view both = "the whole machine, with both ends";
    if (basis_of(results) == Basis::machine) return std::string(both);
    const bool all = std::ranges::all_of(
        results.cases, [&](const Measured& measured) { return basis_of(results, measured) == Basis::host; });
    const std::string own = "the measured host's own CPUs";
    return all ? own : fmt::format("{}; with bound workers {}", own, both);
}

std::vector<std::string> failed_lines(const Results& results) {
    std::vector<std::string> lines;
    for (const auto& measured : results.cases)
        if (!measured.failed.empty())
            lines.push_back(fmt::format("failed after {}: {}: {}",
                                        counted(measured.rounds.size(), "round", "rounds"),
                                        case_text(measured.what), measured.failed));
    return lines;
}

std::vector<Setting> settings_of(const Results& results) {
    const auto& machine = results.machine;
    std::string ports = machine.driver.empty() ? "ports" : machine.driver + " ports";
    if (machine.link_mbits > 0) ports += fmt::format(" of {:.0f} Mbit/s", machine.link_mbits);
    if (!machine.shaped_by.empty()) ports += fmt::format(", shaped by {}", machine.shaped_by);
    std::vector<Setting> list;
    const auto add = [&list](std::string_view name, const std::string& value) {
        list.push_back({name, value, fmt::format("{} {}", name, value)});
    };
    list.push_back({"ports", ports, ports});
    list.push_back({"CPUs", std::to_string(machine.cpus), counted(machine.cpus, "CPU", "CPUs")});
    add("kernel", machine.kernel);
    add("profile", results.profile);
    if (const auto found = machine.sysctls.find("net.ipv4.tcp_congestion_control");
        found != machine.sysctls.end())
        add("congestion control", json::printable(found->second));
    return list;
}

std::string setting_text(const Results& results) {
    const auto& machine = results.machine;
    std::vector<std::string> texts;
    for (auto& setting : settings_of(results))
        texts.push_back(std::move(setting.text));
    auto text = fmt::format("{}", fmt::join(texts, "; "));
    constexpr double little = 0.05;
    if (machine.other_work > little)
        text += fmt::format("; before the first round other programs kept {:.0f} % of the CPUs busy: the CPU "
                            "figures contain such work",
                            100 * machine.other_work);
    return text;
}

} // namespace teamo::bench
