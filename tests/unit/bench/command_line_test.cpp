// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/command_line.h"

#include <gmock/gmock.h>

namespace teamo::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::chrono_literals;
using Command = CommandLine::Command;

std::variant<CommandLine, int> parse(std::vector<const char*> words) {
    words.insert(words.begin(), "teamo-bench");
    return parse_command_line(static_cast<int>(words.size()), words.data());
}

CommandLine parsed(std::vector<const char*> words) {
    const auto line = parse(std::move(words));
    EXPECT_TRUE(std::holds_alternative<CommandLine>(line));
    return std::holds_alternative<CommandLine>(line) ? std::get<CommandLine>(line) : CommandLine{};
}

/// What is printed to stderr; the exit status is 2.
std::string refused(std::vector<const char*> words) {
    testing::internal::CaptureStderr();
    const auto line = parse(std::move(words));
    auto text = testing::internal::GetCapturedStderr();
    EXPECT_EQ(std::holds_alternative<int>(line) ? std::get<int>(line) : -1, 2);
    EXPECT_EQ(std::ranges::count(text, '\n'), 1) << text;
    return text;
}

TEST(BenchCommandLine, has_defaults_by_profile) {
    const auto quick = parsed({"--self", "8"});
    EXPECT_EQ(quick.command, Command::self);
    EXPECT_EQ(quick.options.ports, 8U);
    EXPECT_EQ(quick.options.round, 1s);
    EXPECT_EQ(quick.options.rounds, 2U);
    const auto paper = parsed({"--self=8", "--profile=paper", "--rounds=5"}).options;
    EXPECT_EQ(paper.round, 60s);
    EXPECT_EQ(paper.rounds, 5U);
    EXPECT_EQ(parsed({"--self=1", "--seconds=0.2"}).options.round, 200ms);
}

TEST(BenchCommandLine, is_refused_with_the_reason) {
    EXPECT_THAT(refused({}), HasSubstr("how many ports? --self=PORTS"));
    EXPECT_THAT(refused({"--self=9"}), HasSubstr("--self: Value 9 not in range"));
    EXPECT_THAT(refused({"--self=1", "--seconds=1s"}), HasSubstr("--seconds"));
    EXPECT_THAT(refused({"--self=1", "--profile=slow"}),
                HasSubstr("slow not in {quick,peers,binding,paper}"));
    EXPECT_THAT(refused({"-t", "team0", "--peer=10.0.0.1,host"}), HasSubstr("\"host\" is not an IP address"));
    EXPECT_THAT(
        refused({"-t", "team0", "--peer=fd00::1,fe80::1"}),
        HasSubstr("fe80::1 is a link-local address, which many links have: give another address of the "
                  "peer"));
    EXPECT_THAT(refused({"--peer=10.0.0.1"}), HasSubstr("--peer requires --team"));
    EXPECT_THAT(refused({"compare", "one.json"}), HasSubstr("FILE"));
}

TEST(BenchCommandLine, measures_a_running_team_with_its_peers) {
    const auto line = parsed({"--team=team0", "--peer=10.0.0.1,fd00::1", "--port=5300", "--json"});
    EXPECT_EQ(line.command, Command::peer);
    EXPECT_EQ(line.team, "team0");
    EXPECT_THAT(line.options.peers, ElementsAre("10.0.0.1", "fd00::1"));
    EXPECT_EQ(line.options.port, 5300);
    EXPECT_TRUE(line.json);
}

TEST(BenchCommandLine, of_a_server_names_its_clients) {
    EXPECT_THAT(refused({"serve", "--port=5300"}), HasSubstr("--allow is required"));
    const auto line = parsed({"serve", "--allow", "10.0.0.1,fd00::1"});
    EXPECT_EQ(line.command, Command::serve);
    EXPECT_EQ(line.options.port, 5201);
    EXPECT_THAT(line.allowed, ElementsAre(*parse_ip("10.0.0.1"), *parse_ip("fd00::1")));
    EXPECT_THAT(parsed({"serve", "--allow=::ffff:10.0.0.1"}).allowed, ElementsAre(*parse_ip("10.0.0.1")));
}

TEST(BenchCommandLine, shows_earlier_results) {
    const auto report = parsed({"report", "one.json", "--html=one.html", "--json", "-o"});
    EXPECT_EQ(report.command, Command::report);
    EXPECT_THAT(report.files, ElementsAre("one.json"));
    EXPECT_EQ(report.options.html, "one.html");
    EXPECT_TRUE(report.json && report.oneline);
    EXPECT_THAT(parsed({"compare", "one.json", "two.json"}).files, ElementsAre("one.json", "two.json"));
    EXPECT_EQ(parsed({"table", "one.json"}).command, Command::table);
}

} // namespace
} // namespace teamo::bench
