// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/html/report.h"

#include "bench/html/chart.h"
#include "bench/html/sections.h"
#include "bench/html/style.h"
#include "bench/summary.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

namespace teamo::bench {
namespace {

using html::element, html::Markup;

struct Part {
    std::string_view id, title;
    Markup content;
};

std::vector<Part> parts_of(const Results& results, const std::optional<Prices>& prices) {
    std::vector<Part> parts{{"charts", "Charts", html::charts_part(results)},
                            {"machine", "Machine", html::machine_part(results)},
                            {"cpus", "CPU by CPU", html::cpus_part(results)},
                            {"cost", "Cost", html::money_part(results, prices)},
                            {"not-measured", "Not measured", html::not_measured_part(results)},
                            {"comparisons", "Comparisons", html::comparisons_part(results)},
                            {"figures", "All figures", html::figures_part(results)},
                            {"definitions", "Definitions", html::definitions_part()},
                            {"papers", "Papers", html::papers_part()}};
    std::erase_if(parts, [](const Part& part) { return part.content.empty(); });
    return parts;
}

Markup head_of(const Results& results) {
    const auto title = fmt::format("teamo-bench: {}", setup_text(usual_case(results)));
    const auto newline = Markup::verbatim("\n");
    return html::lone_element("meta", {{"charset", "utf-8"}}) + newline +
           html::lone_element("meta",
                              {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}}) +
           newline + element("title", title) + element("style", Markup::verbatim(html::style_sheet()));
}

Markup top_of(const Results& results, const std::vector<Part>& parts) {
    const auto& machine = results.machine;
    Markup links;
    for (const auto& part : parts)
        links += element("a", {{"href", fmt::format("#{}", part.id)}}, part.title) + " ";
    return element(
        "header", element("h1", "teamo-bench") + element("p", {{"class", "soft"}}, setting_text(results)) +
                      element("p", {{"class", "soft"}},
                              fmt::format("measured {} with teamo-bench {}", machine.date, machine.version)) +
                      element("nav", {{"aria-label", "sections"}}, links));
}

} // namespace

std::string html_report(const Results& results, const std::optional<Prices>& prices) {
    const auto parts = parts_of(results, prices);
    const auto newline = Markup::verbatim("\n");
    auto sections = html::first_screen(results);
    for (const auto& part : parts)
        sections += element("section", element("h2", {{"id", std::string(part.id)}}, part.title) + newline +
                                           part.content) +
                    newline;
    const auto body = html::patterns() + top_of(results, parts) + newline + element("main", sections);
    return "<!DOCTYPE html>\n" +
           element("html", {{"lang", "en"}},
                   element("head", head_of(results)) + newline + element("body", body))
               .str() +
           "\n";
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
