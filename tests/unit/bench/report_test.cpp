// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/html/report.h"

#include "bench/html/chart.h"
#include "bench/html/markup.h"
#include "unit/bench/sample.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>

namespace teamo::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(HtmlReport, escapes_every_text) {
    auto results = sample_results();
    constexpr auto evil = "<script>alert('x')</script>\"&\x01";
    auto& machine = results.machine;
    for (auto* text : {&machine.kernel, &machine.cpu, &machine.driver, &machine.version, &machine.date,
                       &machine.nftables, &machine.shaped_by, &results.profile})
        *text = evil;
    machine.sysctls[evil] = evil;
    for (auto& measured : results.cases) {
        measured.what.datapath = evil;
        if (!measured.skipped.empty()) measured.skipped = evil;
    }
    const auto report = html_report(results, Prices{.currency = evil});
    EXPECT_THAT(report, Not(HasSubstr("<script")));
    EXPECT_THAT(report, HasSubstr("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&quot;&amp;\xef\xbf\xbd"));
    EXPECT_THAT(report, Not(HasSubstr("alert('x')")));
}

TEST(HtmlReport, refers_to_nothing_outside) {
    const auto report = html_report(sample_results());
    EXPECT_THAT(report, testing::Not(testing::ContainsRegex("href=\"[^#]")));
    for (const auto* outside : {"http:", "https:", "src=", "@import", "<script", "<link"})
        EXPECT_THAT(report, Not(HasSubstr(outside)));
}

TEST(HtmlReport, leaves_out_charts_without_data_and_names_them) {
    Results results = sample_results();
    std::erase_if(results.cases, [](const Measured& one) {
        return one.what.load != Load::stream || one.what.binding != Binding::none;
    });
    const auto report = html_report(results);
    EXPECT_THAT(report, Not(HasSubstr("id=\"binding\"")));
    EXPECT_THAT(report, HasSubstr("Not drawn, because it was not measured: What binding workers brings; "));
    EXPECT_THAT(report, HasSubstr("id=\"pe-index\""));
}

TEST(HtmlReport, of_nothing_is_a_document) {
    const auto report = html_report({});
    EXPECT_THAT(report, HasSubstr("Nothing was measured."));
    EXPECT_THAT(report, testing::EndsWith("</html>\n"));
}

TEST(HtmlReport, has_what_each_cpu_did) {
    auto results = sample_results();
    const auto part = [&] {
        auto report = html_report(results);
        report.erase(0, report.find("id=\"cpus\""));
        return report.substr(0, report.find("</section>"));
    };
    const auto all = part();
    EXPECT_THAT(all, HasSubstr(">CPU 1</text>"));
    for (const auto* name : {"user", "system", "softirq", "irq"})
        EXPECT_THAT(all, HasSubstr(fmt::format("<th scope=\"col\">{}</th>", name)));
    EXPECT_THAT(all, HasSubstr("<th scope=\"row\">1</th><td>28.0</td><td>1.7</td><td>15.4</td>"));
    for (auto& measured : results.cases)
        for (auto& round : measured.rounds)
            for (auto& [number, time] : round.cpus)
                time.irq = 0;
    EXPECT_THAT(part(), Not(HasSubstr(">irq<"))) << "it was not measured";
}

/// For a look in a browser: TEAMO_REPORT=FILE writes it there (tests/bench/report_in_browser).
TEST(HtmlReport, of_a_whole_run_has_every_chart) {
    const auto report =
        html_report(sample_results(), Prices{.currency = "EUR", .kwh = 0.3, .server = 5'000, .pue = 1.5});
    EXPECT_THAT(report, Not(HasSubstr("Not drawn")));
    EXPECT_THAT(report, HasSubstr("7546"));
    if (const auto* path = std::getenv("TEAMO_REPORT")) std::ofstream(path) << report;
}

TEST(HtmlReport, replaces_a_file_also_behind_a_link_and_nothing_else) {
    const auto folder = std::filesystem::canonical(testing::TempDir()) / fmt::format("report-{}", ::getpid());
    std::filesystem::create_directories(folder);
    const auto file = (folder / "file").string(), link = (folder / "link").string();
    std::filesystem::create_symlink(file, link);
    const auto refused = [](const std::string& path) {
        const auto target = report_target(path);
        return target ? "" : target.error().text;
    };
    EXPECT_EQ(report_target(file), file) << "a new one";
    EXPECT_EQ(refused(link), link + " is a link to a file that does not exist");
    std::ofstream(file) << "old";
    EXPECT_EQ(report_target(link), file);
    for (const auto* other : {"/dev/null", "/"})
        EXPECT_EQ(refused(other), fmt::format("{} is not a file that can be replaced", other));
    EXPECT_THAT(refused("/no/such/folder/file"), HasSubstr("cannot write /no/such/folder/file"));
    std::filesystem::remove_all(folder);
}

/// The numbers that the groups of a pattern match, in all places.
std::vector<double> coordinates(const std::string& drawing, const std::string& pattern) {
    std::vector<double> found;
    const std::regex wanted(pattern);
    for (std::sregex_iterator each(drawing.begin(), drawing.end(), wanted), end; each != end; ++each)
        for (std::size_t at = 1; at < each->size(); ++at)
            found.push_back(std::stod((*each)[at]));
    return found;
}

TEST(HtmlChart, has_ranges_inside_its_scale) {
    html::Chart chart{
        .groups = {{.bars = {{.value = Spread{.median = 0.1, .low = -0.2, .high = 0.4, .rounds = 2}},
                             {.value = Spread{.median = -0.1, .low = -0.2, .high = 0.9, .rounds = 2}}}}}};
    const auto drawing = drawing_of(chart).str();
    const auto grid = coordinates(drawing, R"re(x1="([0-9.-]+)"[^>]*class="(?:grid|zero)")re");
    const auto ranges =
        coordinates(drawing, R"re(x1="([0-9.-]+)"[^>]*x2="([0-9.-]+)"[^>]*class="whisker")re");
    ASSERT_FALSE(grid.empty());
    ASSERT_FALSE(ranges.empty());
    EXPECT_GE(std::ranges::min(ranges), std::ranges::min(grid));
    EXPECT_LE(std::ranges::max(ranges), std::ranges::max(grid));
}

TEST(HtmlChart, says_that_a_limit_is_not_known_where_there_is_room) {
    const auto bar = [](double value) {
        return html::Bar{.value = Spread{.median = value, .low = value, .high = value}, .mark = "not known"};
    };
    html::Chart chart{.side = html::Axis{}, .groups = {{.bars = {bar(10), bar(900)}}}};
    const auto drawing = drawing_of(chart).str();
    EXPECT_THAT(drawing, HasSubstr(">10 limit not known<"));
    EXPECT_THAT(drawing, HasSubstr(">900<")) << "the side figures begin there";
}

TEST(HtmlChart, joins_only_groups_of_one_series) {
    html::Chart chart{.side = html::Axis{}, .connected = true};
    for (const auto* series : {"transmit", "transmit", "receive", "receive"})
        chart.groups.push_back({.bars = {{.name = "team", .side = 1.0}}, .series = series});
    const auto drawing = drawing_of(chart).str();
    std::size_t lines = 0;
    for (auto at = drawing.find("<polyline"); at != drawing.npos; at = drawing.find("<polyline", at + 1))
        ++lines;
    EXPECT_EQ(2U, lines);
}

} // namespace
} // namespace teamo::bench
