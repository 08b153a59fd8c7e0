// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/report.h"

#include "base/named.h"
#include "bench/json.h"
#include "bench/names.h"
#include "bench/papers.h"
#include "bench/summary.h"
#include "kernel/files/files.h"
#include "page.h"
#include "json/write.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

namespace teamo::bench {
namespace {

using json::Array;
using json::Object;
using json::Value;

constexpr std::array all_ways{Way::transmit, Way::receive, Way::both};

Array texts(const std::vector<std::string>& list) { return {list.begin(), list.end()}; }

Array range_of(const Spread& spread) { return {spread.median, spread.low, spread.high}; }

Value case_document(const Results& results, const Measured& measured) {
    const auto basis = basis_of(results, measured);
    Object figures;
    for (const auto& metric : metrics())
        if (const auto spread = spread_of(measured, basis, metric.figure))
            figures.push_back({std::string(metric.key), range_of(*spread)});
    return Object{{"name", case_text(measured.what)},   {"carrier", carrier_words(measured.what)},
                  {"way", way_text(measured.what.way)}, {"load", load_text(measured.what.load)},
                  {"case", to_json(measured.what)},     {"limit", limit_text(measured.limit)},
                  {"figures", std::move(figures)}};
}

Value comparison_document(const Comparison& one) {
    const auto paper = papers_ratio(one);
    return Object{
        {"about", name_of(one.about)},
        {"title", title_of(one.about)},
        {"name", case_text(one.what)},
        {"case", to_json(one.what)},
        {"ratio", range_of(one.ratio)},
        {"texts", Array{ratio_text(one.about, one.ratio.median), ratio_text(one.about, one.ratio.low),
                        ratio_text(one.about, one.ratio.high)}},
        {"repeats", one.ratio.rounds < 2 ? "one round"
                    : agrees(one.ratio)  ? std::string("yes")
                                         : "no: " + one.why},
        {"paper", paper ? Value(fmt::format("{} {}", paper_of(one.about), ratio_text(one.about, *paper)))
                        : Value("")}};
}

/// By way and number of ports, for those that a paper has.
Object papers_figures(std::optional<double> (*figure)(Way, unsigned)) {
    Object ways;
    for (const auto way : all_ways) {
        Object ports;
        for (unsigned count = 1; count <= max_ports; ++count)
            if (const auto value = figure(way, count)) ports.push_back({std::to_string(count), *value});
        ways.push_back({name_of(way), std::move(ports)});
    }
    return ways;
}

Array cpu_documents(const Results& results) {
    Array list;
    for (const auto& line : headlines(results)) {
        Array rows;
        for (const auto& [number, cpu] : shares_by_cpu(*line.measured))
            rows.emplace_back(Array{number, 100 * busy_share(cpu), 100 * cpu.user, 100 * cpu.system,
                                    100 * cpu.softirq, 100 * cpu.irq});
        if (!rows.empty())
            list.emplace_back(Object{{"name", case_text(line.measured->what)}, {"rows", std::move(rows)}});
    }
    return list;
}

Value cost_document(const Results& results, const Prices& prices) {
    Array rows;
    for (const auto& [what, cost, ways] : weighted_costs(results, prices)) {
        std::vector<std::string_view> names;
        for (const auto way : ways)
            names.push_back(way_text(way));
        rows.emplace_back(Array{
            case_text(what), fmt::format("{}", fmt::join(names, ", ")), fmt::format("{:.3f}", cost.cpus),
            fmt::format("{:.0f}", cost.servers), cost.kwh ? fmt::format("{:.0f}", *cost.kwh) : "no meter",
            cost.energy ? fmt::format("{:.0f}", *cost.energy) : "–", fmt::format("{:.0f}", cost.total())});
    }
    return Object{
        {"caption",
         fmt::format("{:g} servers with {:g} Gbit/s each, {:g} hours a year over {:g} years, PUE {:g}",
                     prices.servers, prices.gbits, prices.hours, prices.years, prices.pue)},
        {"currency", prices.currency},
        {"note", energy_note(results)},
        {"rows", std::move(rows)}};
}

Array machine_document(const Results& results) {
    const auto& machine = results.machine;
    const auto or_not_known = [](const std::string& value) {
        return value.empty() ? std::string("not known") : value;
    };
    Array list{Array{"kernel", or_not_known(machine.kernel)},
               Array{"CPU", fmt::format("{} x {}", machine.cpus, or_not_known(machine.cpu))},
               Array{"driver of the ports", or_not_known(machine.driver)},
               Array{"speed of a port",
                     machine.link_mbits > 0 ? fmt::format("{:.0f} Mbit/s", machine.link_mbits) : "not known"},
               Array{"shaped by", machine.shaped_by.empty() ? "nothing" : machine.shaped_by},
               Array{"nftables", or_not_known(machine.nftables)},
               Array{"teamo-bench", or_not_known(machine.version)},
               Array{"date", or_not_known(machine.date)},
               Array{"profile", or_not_known(results.profile)},
               Array{"CPU time", basis_text(results)}};
    for (const auto& [name, value] : machine.sysctls)
        list.emplace_back(Array{name, value});
    return list;
}

Array not_measured(const Results& results) {
    std::vector<std::string> lines;
    for (const auto& measured : results.cases)
        if (!measured.skipped.empty())
            lines.push_back(fmt::format("{}: {}", case_text(measured.what), measured.skipped));
    std::ranges::move(failed_lines(results), std::back_inserter(lines));
    return texts(lines);
}

/// Puts `text` in the place of the only `mark`.
void put(std::string& page, std::string_view mark, std::string_view text) {
    page.replace(page.find(mark), mark.size(), text);
}

} // namespace

json::Value report_document(const Results& results, const std::optional<Prices>& prices) {
    const auto all = comparisons(results);
    const auto usual = usual_case(results);
    Array cases, compared, summary, definitions, about;
    for (const auto& measured : results.cases)
        if (!measured.rounds.empty()) cases.push_back(case_document(results, measured));
    for (const auto& one : all)
        compared.push_back(comparison_document(one));
    for (const auto& row : headline_rows(results))
        summary.emplace_back(texts(row));
    for (const auto& metric : metrics())
        definitions.emplace_back(Object{{"key", metric.key},
                                        {"title", metric.title},
                                        {"unit", metric.unit},
                                        {"digits", metric.digits},
                                        {"definition", metric.definition},
                                        {"paper", metric.paper}});
    for (const auto& paper : papers())
        about.emplace_back(Array{paper.key, fmt::format("{} {}", paper.about, paper.found)});
    Value document =
        Object{{"title", setup_text(usual)},
               {"setting", setting_text(results)},
               {"date", results.machine.date},
               {"version", results.machine.version},
               {"caption", fmt::format("{}; CPU time of {}", setup_text(usual), basis_text(results))},
               {"summary", std::move(summary)},
               {"repeatability", repeatability(all)},
               {"usual", to_json(usual)},
               {"cases", std::move(cases)},
               {"comparisons", std::move(compared)},
               {"cpus", cpu_documents(results)},
               {"machine", machine_document(results)},
               {"not_measured", not_measured(results)},
               {"energy", has_energy(results) ? "" : fmt::format("Energy: {}.", no_energy_text(results))},
               {"metrics", std::move(definitions)},
               {"papers", std::move(about)},
               {"apa", papers_figures(apa_throughput)},
               {"hp_tso_saving", papers_figures(hp_tso_saving)},
               {"linux_tso_gain", papers_figures(linux_tso_gain)}};
    if (prices) document.set("cost", cost_document(results, *prices));
    return document;
}

std::string html_report(const Results& results, const std::optional<Prices>& prices,
                        std::string_view library) {
    auto data = json::write(report_document(results, prices), {.indent = 0});
    // Nothing in the data ends the element that it is in.
    for (auto at = data.find('<'); at != data.npos; at = data.find('<', at))
        data.replace(at, 1, "\\u003c");
    std::string page(report_page);
    put(page, "/*LIBRARY*/", library);
    put(page, "/*DATA*/", data);
    return page;
}

std::string chart_library() {
    for (const auto* file : {"chart.min.js", "chart.umd.js"})
        if (auto text =
                read_file(fmt::format("/usr/share/javascript/chart.js/{}", file), std::size_t{4} << 20))
            return std::move(*text);
    return {};
}

Result<std::string> report_target(const std::string& file) {
    std::error_code error;
    const auto kind = std::filesystem::status(file, error).type();
    if (kind == std::filesystem::file_type::none)
        return fail_errno(error.value(), fmt::format("cannot write {}", file));
    std::filesystem::path target = file;
    if (kind != std::filesystem::file_type::not_found) {
        if (kind != std::filesystem::file_type::regular)
            return fail(EINVAL, fmt::format("{} is not a file that can be replaced", file));
        target = std::filesystem::canonical(file, error);
    } else if (std::filesystem::is_symlink(file, error)) {
        return fail(ENOENT, fmt::format("{} is a link to a file that does not exist", file));
    }
    auto folder = target.parent_path();
    if (folder.empty()) folder = ".";
    if (::access(folder.c_str(), W_OK | X_OK) != 0)
        return fail_errno(errno, fmt::format("cannot write {}", file));
    return target.string();
}

} // namespace teamo::bench
