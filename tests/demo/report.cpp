// SPDX-License-Identifier: LGPL-2.1-or-later
#include "demo/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace teamo::demo {
namespace {

/// As with every figure (support/figure.h), TEAMO_PROMISES=1 accepts no excuse.
bool is_excused(const Outcome& outcome) {
    const auto* held = std::getenv("TEAMO_PROMISES");
    return !outcome.excuse.empty() && (held == nullptr || std::string_view(held) != "1");
}

bool is_defect(const Outcome& outcome) { return !outcome.kept && !is_excused(outcome); }

std::string verdict(const Outcome& outcome) {
    if (outcome.kept) return "yes";
    return is_defect(outcome) ? "NO" : "no: " + outcome.excuse;
}

} // namespace

void Report::step(std::string_view text) const {
    const std::chrono::duration<double> since = std::chrono::steady_clock::now() - start_;
    fmt::print("[{:5.1f} s] {}\n", since.count(), text);
    std::fflush(stdout);
}

void Report::quote(std::string_view text) const {
    while (!text.empty()) {
        const auto end = text.find('\n');
        fmt::print("            {}\n", text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    std::fflush(stdout);
}

void Report::expect(std::string what, std::string measured, std::string expected, Outcome outcome) {
    rows_.push_back({.what = std::move(what),
                     .measured = std::move(measured),
                     .expected = std::move(expected),
                     .outcome = std::move(outcome)});
}

bool Report::conclude() const {
    std::size_t what = 4, measured = 8, expected = 8;
    for (const auto& row : rows_) {
        what = std::max(what, row.what.size());
        measured = std::max(measured, row.measured.size());
        expected = std::max(expected, row.expected.size());
    }
    const auto line = [&](const Row& row, std::string_view last) {
        fmt::print("{:<{}} | {:>{}} | {:<{}} | {}\n", row.what, what, row.measured, measured, row.expected,
                   expected, last);
    };
    fmt::print("\n");
    line({.what = "what", .measured = "measured", .expected = "expected", .outcome = {}}, "as expected");
    for (const auto& row : rows_)
        line(row, verdict(row.outcome));
    return std::ranges::none_of(rows_, [](const Row& row) { return is_defect(row.outcome); });
}

} // namespace teamo::demo
