// SPDX-License-Identifier: LGPL-2.1-or-later
//
// teamo-bench: the measurements of the papers, on this machine. docs/adr/0032.
#include "bench/command_line.h"
#include "bench/json.h"
#include "bench/load/server.h"
#include "bench/report.h"
#include "bench/run/engine.h"
#include "bench/run/peer.h"
#include "bench/summary.h"
#include "bench/text.h"
#include "kernel/files/files.h"
#include "json/parse.h"
#include "json/write.h"

#include <algorithm>
#include <csignal>
#include <cstdio>

namespace teamo::bench {
namespace {

using OptionalPrices = std::optional<Prices>;
using Command = CommandLine::Command;

/// If the disk is full, fmt::print() throws; main() checks the stream's error instead.
void put(std::string_view text) { static_cast<void>(std::fwrite(text.data(), 1, text.size(), stdout)); }

Result<json::Value> document_in(const std::string& file) {
    constexpr std::size_t most_bytes = std::size_t{1} << 30; // the paper's profile has 20 MB with two CPUs
    const auto text = TEAMO_TRY(read_file(file, most_bytes));
    auto document = json::parse(text, {.bytes = text.size()});
    if (!document)
        return fail(EINVAL, fmt::format("{}:{}:{}: {}", file, document.error().place.line,
                                        document.error().place.column, document.error().text));
    return std::move(*document);
}

Result<OptionalPrices> prices_of(const Options& options) {
    if (options.prices.empty()) return OptionalPrices{};
    auto prices = prices_from(TEAMO_TRY(document_in(options.prices)));
    if (!prices) return within(options.prices, std::move(prices.error()));
    return OptionalPrices(std::move(*prices));
}

/// Of earlier runs, as --json printed them.
Result<std::vector<Results>> results_in(const std::vector<std::string>& files) {
    std::vector<Results> all;
    for (const auto& file : files) {
        auto results = from_json(TEAMO_TRY(document_in(file)));
        if (!results) return within(file, std::move(results.error()));
        all.push_back(std::move(*results));
    }
    return all;
}

Result<> show(const CommandLine& line, const OptionalPrices& prices, const Results& results) {
    put(line.json ? json::write(to_json(results), {.indent = line.oneline ? 0 : 4}) + "\n"
                  : results_text(results, prices));
    if (line.options.html.empty()) return {};
    const auto file = TEAMO_TRY(report_target(line.options.html));
    return replace_file(file, html_report(results, prices, chart_library()), 0644);
}

Result<Results> measure_team(const CommandLine& line) {
    return measure_peer(line.options, TEAMO_TRY(running_team(line.team)));
}

/// False: a case failed. A text shows the failures, JSON goes to a program.
Result<bool> measure(const CommandLine& line) {
    // What is wrong with the files costs no time then.
    if (!line.options.html.empty()) TEAMO_TRY(report_target(line.options.html));
    const auto prices = TEAMO_TRY(prices_of(line.options));
    const auto results =
        TEAMO_TRY(line.command == Command::self ? measure_self(line.options) : measure_team(line));
    TEAMO_TRY(show(line, prices, results));
    const auto failed = failed_lines(results);
    if (line.json)
        for (const auto& text : failed)
            std::fputs((text + "\n").c_str(), stderr);
    return failed.empty();
}

/// Until SIGINT or SIGTERM.
Result<> serve(const CommandLine& line) {
    sigset_t signals{};
    ::sigemptyset(&signals);
    ::sigaddset(&signals, SIGINT);
    ::sigaddset(&signals, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr); // in the server's threads, too
    const auto server =
        TEAMO_TRY(Server::start({.port = line.options.port, .allowed = line.allowed, .most = 256}));
    int signal = 0;
    ::sigwait(&signals, &signal);
    return {};
}

Result<bool> run(const CommandLine& line) {
    switch (line.command) {
    case Command::self:
    case Command::peer: return measure(line);
    case Command::serve: TEAMO_TRY(serve(line)); return true;
    case Command::report: {
        const auto prices = TEAMO_TRY(prices_of(line.options));
        const auto results = TEAMO_TRY(results_in(line.files));
        TEAMO_TRY(show(line, prices, results.front()));
        return true;
    }
    case Command::table: {
        put(markdown_text(TEAMO_TRY(results_in(line.files))));
        return true;
    }
    case Command::compare: {
        const auto runs = TEAMO_TRY(results_in(line.files));
        put(disagreements_text(runs.front(), runs.back()));
        return true;
    }
    }
    return true;
}

int main(int argc, char** argv) {
    const auto line = parse_command_line(argc, argv);
    if (const auto* status = std::get_if<int>(&line)) return *status;
    auto done = run(std::get<CommandLine>(line));
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
        done = fail(errno, fmt::format("cannot write the output: {}", errno_text(errno)));
    if (done) return *done ? EXIT_SUCCESS : EXIT_FAILURE;
    auto text = done.error().text;
    std::ranges::replace(text, '\n', ' '); // one line
    std::fputs(fmt::format("teamo-bench: {}\n", text).c_str(), stderr);
    return EXIT_FAILURE;
}

} // namespace
} // namespace teamo::bench

int main(int argc, char** argv) { return teamo::bench::main(argc, argv); }
