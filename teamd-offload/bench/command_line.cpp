// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/command_line.h"

#include "version.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cmath>
#include <cstdio>

namespace teamo::bench {
namespace {

using namespace std::chrono_literals;

constexpr int bad_usage = 2; // as teamoctl

std::string not_an_address(const std::string& text) {
    return parse_ip(text) ? "" : fmt::format("\"{}\" is not an IP address", text);
}

std::string not_a_peer(const std::string& text) {
    if (auto wrong = not_an_address(text); !wrong.empty()) return wrong;
    return parse_ip(text)->is_link_local()
               ? fmt::format(
                     "{} is a link-local address, which many links have: give another address of the peer",
                     text)
               : "";
}

/// What is chosen by the profile unless it is given.
struct Given {
    std::optional<double> seconds{};
    std::optional<unsigned> rounds{};
};

void add_report_options(CLI::App& app, CommandLine& line) {
    app.add_flag("--json", line.json, "Print the results as JSON");
    app.add_flag("-o,--oneline", line.oneline, "Print JSON in one line");
    app.add_option("--html", line.options.html, "Write a report for a browser")->type_name("FILE");
    app.add_option("--prices", line.options.prices, "Compute the cost with this table, see teamo-metrics(7)")
        ->type_name("FILE");
}

void add_port(CLI::App& app, CommandLine& line) {
    app.add_option("--port", line.options.port, "TCP port of the server, 5201")
        ->check(CLI::Range(1, 65'535))
        ->type_name("PORT");
}

void add_measuring_options(CLI::App& app, CommandLine& line, Given& given) {
    auto& options = line.options;
    auto* self = app.add_option("--self", options.ports,
                                "Measure a team of 1 to 8 ports between two hosts in namespaces")
                     ->check(CLI::Range(1U, static_cast<unsigned>(max_ports)))
                     ->type_name("PORTS");
    auto* team = app.add_option("-t,--team", line.team, "Measure this team: with --peer")->type_name("TEAM");
    app.add_option("--peer", options.peers,
                   "Where \"teamo-bench serve\" runs; several addresses if the hash is by addresses")
        ->delimiter(',')
        ->check(not_a_peer)
        ->needs(team)
        ->excludes(self)
        ->type_name("ADDRESS[,ADDRESS...]");
    add_port(app, line);
    app.add_option("--rate", options.rate, "Mbit/s of each port of --self, 1000; 0: not limited")
        ->check(CLI::Range(0, 400'000))
        ->type_name("MBIT");
    app.add_option(
           "--profile", options.profile,
           "quick: three minutes; peers: beside bonding and teamd by all datapaths; binding: workers on the "
           "CPU of their packets; paper: the matrix of the papers")
        ->check(CLI::IsMember({"quick", "peers", "binding", "paper"}))
        ->type_name("PROFILE");
    app.add_option("--only", options.only, "Cases with a TEXT in their names: \"8 ports, both ways\"")
        ->type_name("TEXT[|TEXT]");
    app.add_option("--seconds", given.seconds, "Length of a round, 1; 60 with the profile paper")
        ->check(CLI::Range(0.1, 3600.0))
        ->type_name("SECONDS");
    app.add_option("--rounds", given.rounds, "Rounds of each case, 2; 3 with the profile paper")
        ->check(CLI::Range(1, 1000))
        ->type_name("NUMBER");
}

/// What the profile chooses, and what the program has to do without a subcommand.
void complete(CommandLine& line, const Given& given) {
    constexpr double milliseconds = 1000;
    auto& options = line.options;
    const bool paper = options.profile == "paper";
    options.round = paper ? 60s : 1s;
    if (given.seconds) options.round = std::chrono::milliseconds(std::llround(*given.seconds * milliseconds));
    options.rounds = given.rounds.value_or(paper ? 3 : 2);
    if (!options.peers.empty())
        line.command = CommandLine::Command::peer;
    else if (options.ports == 0)
        throw CLI::ValidationError(
            "how many ports? --self=PORTS; or for a running team -t TEAM --peer=ADDRESS, "
            "where \"teamo-bench serve\" runs");
}

} // namespace

std::variant<CommandLine, int> parse_command_line(int argc, const char* const* argv) {
    CommandLine line;
    Given given;
    bool version = false;
    CLI::App app("Measures a team: between two hosts in namespaces, or against another machine",
                 "teamo-bench");
    app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast); // as getopt_long(3)
    app.add_flag("-V,--version", version, "Show the version");
    add_report_options(app, line);
    add_measuring_options(app, line, given);
    const auto add = [&](const char* name, const char* help, CommandLine::Command command) {
        auto* sub = app.add_subcommand(name, help);
        sub->callback([&line, command] { line.command = command; });
        return sub;
    };
    auto* serve = add("serve", "Serve the benchmark of another machine", CommandLine::Command::serve);
    std::vector<std::string> allowed;
    serve->add_option("--allow", allowed, "The clients that may connect")
        ->delimiter(',')
        ->check(not_an_address)
        ->required()
        ->type_name("ADDRESS[,ADDRESS...]");
    add_port(*serve, line);
    auto* report = add("report", "Show the results of an earlier benchmark", CommandLine::Command::report);
    report->add_option("FILE", line.files, "What --json printed")->required()->expected(1);
    add_report_options(*report, line);
    add("table", "Print results as a table in Markdown", CommandLine::Command::table)
        ->add_option("FILE", line.files, "What --json printed")
        ->required();
    add("compare", "Compare two runs: the ratios that differ by more than 5 %, and why",
        CommandLine::Command::compare)
        ->add_option("FILE", line.files, "What --json printed")
        ->required()
        ->multi_option_policy(CLI::MultiOptionPolicy::Throw)
        ->expected(2);
    app.require_subcommand(0, 1);
    try {
        app.parse(argc, argv);
        if (app.get_subcommands().empty() && !version) complete(line, given);
    } catch (const CLI::CallForHelp&) {
        const auto chosen = app.get_subcommands();
        std::fputs((chosen.empty() ? &app : chosen.front())->help().c_str(), stdout);
        return 0;
    } catch (const CLI::ParseError& error) {
        std::fputs(fmt::format("teamo-bench: {} (see teamo-bench --help)\n", error.what()).c_str(), stderr);
        return bad_usage;
    }
    if (version) {
        std::fputs(fmt::format("teamo-bench {}\n", program_version).c_str(), stdout);
        return 0;
    }
    for (const auto& address : allowed)
        line.allowed.insert(unmapped(*parse_ip(address))); // as the server sees a client
    return line;
}

} // namespace teamo::bench
