// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/report.h"

#include "unit/bench/sample.h"
#include "json/fields.h"
#include "json/parse.h"
#include "json/write.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace teamo::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

/// The data in a page, as its script reads it.
json::Value data_in(const std::string& page) {
    constexpr std::string_view begin = "<script id=\"data\" type=\"application/json\">";
    const auto from = page.find(begin) + begin.size();
    const auto text = page.substr(from, page.find("</script>", from) - from);
    return json::parse(text, {.bytes = text.size()}).value();
}

std::size_t scripts_in(const std::string& page) {
    std::size_t count = 0;
    for (auto at = page.find("</script"); at != page.npos; at = page.find("</script", at + 1))
        ++count;
    return count;
}

TEST(HtmlReport, keeps_every_text_inside_its_data) {
    auto results = sample_results();
    constexpr auto evil = "</script><script>alert('x')</script>\"&/*DATA*/";
    auto& machine = results.machine;
    for (auto* text : {&machine.kernel, &machine.cpu, &machine.driver, &machine.version, &machine.date,
                       &machine.nftables, &machine.shaped_by, &results.profile})
        *text = evil;
    machine.sysctls[evil] = evil;
    for (auto& measured : results.cases) {
        measured.what.datapath = evil;
        if (!measured.skipped.empty()) measured.skipped = evil;
    }
    const auto page = html_report(results, Prices{.currency = evil});
    EXPECT_EQ(scripts_in(page), scripts_in(html_report({})));
    EXPECT_EQ(json::write(data_in(page)), json::write(report_document(results, Prices{.currency = evil})));
}

TEST(HtmlReport, refers_to_nothing_outside) {
    const auto page = html_report(sample_results());
    for (const auto* outside : {"http:", "https:", "src=", "@import", "<link", "fetch(", "import("})
        EXPECT_THAT(page, Not(HasSubstr(outside)));
}

TEST(HtmlReport, has_the_papers_beside_what_was_measured) {
    const auto document = report_document(sample_results(), std::nullopt);
    EXPECT_EQ(json::number(json::child(json::child(document, "apa"), "transmit"), "8"), 0) << "it is a real";
    const auto& apa = json::child(json::child(json::child(document, "apa"), "transmit"), "8");
    ASSERT_NE(apa.real(), nullptr);
    EXPECT_EQ(*apa.real(), 7546);
    const auto& cases = json::array(document, "cases");
    ASSERT_FALSE(cases.empty());
    const auto& figures = json::child(cases.front(), "figures");
    EXPECT_EQ(json::array(figures, "throughput").size(), 3U) << "the median and its range";
    EXPECT_FALSE(json::array(document, "comparisons").empty());
    EXPECT_FALSE(json::array(document, "cpus").empty());
    EXPECT_EQ(document.find("cost"), nullptr);
}

TEST(HtmlReport, of_nothing_is_a_document) {
    const auto page = html_report({});
    EXPECT_THAT(page, testing::EndsWith("</html>\n"));
    EXPECT_TRUE(json::array(data_in(page), "cases").empty());
}

/// For a look in a browser: TEAMO_REPORT=FILE writes it there (tests/bench/report_in_browser).
TEST(HtmlReport, has_the_library_that_draws) {
    const auto prices = Prices{.currency = "EUR", .kwh = 0.3, .server = 5'000, .pue = 1.5};
    EXPECT_THAT(html_report(sample_results(), prices, "let library;"),
                HasSubstr("<script>let library;</script>"));
    if (const auto* path = std::getenv("TEAMO_REPORT"))
        std::ofstream(path) << html_report(sample_results(), prices, chart_library());
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

} // namespace
} // namespace teamo::bench
