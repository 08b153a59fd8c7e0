// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/bench/html/report.h"

#include "ctl/bench/html/chart.h"
#include "ctl/bench/html/sections.h"
#include "ctl/bench/html/style.h"
#include "ctl/bench/summary.h"

#include <fmt/format.h>

namespace teamo::ctl::bench {

std::string html_report(const Results& results, const std::optional<Prices>& prices) {
    using html::element, html::Markup;
    const auto title = fmt::format("teamoctl bench: {}", case_text(usual_case(results)));
    const auto newline = Markup::verbatim("\n");
    const auto head =
        html::lone_element("meta", {{"charset", "utf-8"}}) + newline +
        html::lone_element("meta",
                           {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}}) +
        newline + element("title", title) + element("style", Markup::verbatim(html::style_sheet())) + newline;
    const auto top =
        element("header", element("h1", "teamoctl bench") +
                              element("p", {{"class", "soft"}},
                                      fmt::format("{}; {}", setting_text(results), results.machine.date)));
    const auto body =
        html::patterns() + top + newline +
        element("main", html::first_screen(results) + html::charts_section(results) +
                            html::comparisons_section(results) + html::cpus_section(results) +
                            html::figures_section(results) + html::money_section(results, prices) +
                            html::not_measured_section(results) + html::machine_section(results) +
                            html::definitions_section());
    return "<!DOCTYPE html>\n" +
           element("html", {{"lang", "en"}}, element("head", head) + newline + element("body", body)).str() +
           "\n";
}

} // namespace teamo::ctl::bench
