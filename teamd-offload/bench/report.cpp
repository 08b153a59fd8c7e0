// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/report.h"

#include "base/named.h"
#include "bench/json.h"
#include "bench/papers.h"
#include "bench/result_tables.h"
#include "bench/summary.h"
#include "kernel/files/files.h"
#include "page.h"
#include "json/write.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

namespace teamo::bench {
namespace {

using json::Array;
using json::Object;
using json::Value;

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

Array documents_of(const std::vector<Table>& tables) {
    Array list;
    for (const auto& table : tables)
        list.push_back(document_of(table));
    return list;
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

/// Puts `text` in the place of the only `mark`.
void put(std::string& page, std::string_view mark, std::string_view text) {
    page.replace(page.find(mark), mark.size(), text);
}

} // namespace

json::Value report_document(const Results& results, const std::optional<Prices>& prices) {
    const auto all = comparisons(results);
    const auto usual = usual_case(results);
    Array cases, compared, definitions, about;
    for (const auto& measured : results.cases)
        if (!measured.rounds.empty()) cases.push_back(case_document(results, measured));
    for (const auto& one : all)
        compared.emplace_back(Object{
            {"about", name_of(one.about)}, {"case", to_json(one.what)}, {"ratio", range_of(one.ratio)}});
    for (const auto& metric : metrics())
        definitions.emplace_back(Object{{"key", metric.key},
                                        {"title", metric.title},
                                        {"unit", metric.unit},
                                        {"digits", metric.digits},
                                        {"definition", metric.definition},
                                        {"paper", metric.paper}});
    for (const auto& paper : papers())
        about.emplace_back(Array{paper.key, fmt::format("{} {}", paper.about, paper.found)});
    const auto missing = lines_of_missing(results);
    Value document =
        Object{{"title", setup_text(usual)},
               {"setting", setting_text(results)},
               {"date", results.machine.date},
               {"version", results.machine.version},
               {"summary", document_of(summary_table(results))},
               {"repeatability", repeatability(all)},
               {"usual", to_json(usual)},
               {"cases", std::move(cases)},
               {"comparisons", std::move(compared)},
               {"compared", documents_of(comparison_tables(results))},
               {"cpus", documents_of(cpu_tables(results))},
               {"machine", machine_document(results)},
               {"not_measured", Array(missing.begin(), missing.end())},
               {"energy", has_energy(results) ? "" : fmt::format("Energy: {}.", no_energy_text(results))},
               {"metrics", std::move(definitions)},
               {"papers", std::move(about)},
               {"apa", papers_figures(apa_throughput)},
               {"hp_tso_saving", papers_figures(hp_tso_saving)},
               {"linux_tso_gain", papers_figures(linux_tso_gain)}};
    if (prices) document.set("cost", document_of(cost_table(results, *prices)));
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
