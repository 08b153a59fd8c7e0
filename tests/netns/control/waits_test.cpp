// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Each command of teamoctl answers at once, or says why it waits.
//
// lab: Waits.* by none: the waits are those of teamoctl
#include "netns/configs.h"

#include <gmock/gmock.h>

#include <csignal>
#include <map>
#include <sstream>

namespace teamo::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using Words = std::vector<std::string>;

/// The commands of a team in `teamoctl --help`, "port add PORTDEV", as it lists them.
std::vector<std::string> commands_in_help() {
    std::istringstream help(run({.argv = {teamoctl_program(), "--help"}}).out);
    std::vector<std::string> commands;
    bool listed = false;
    for (std::string line; std::getline(help, line);) {
        if (line.starts_with("Commands")) listed = line == "Commands:";
        if (!listed || !line.starts_with("    ") || line.substr(4, 1) == " ") continue;
        const auto end = line.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ[", 4);
        auto path = line.substr(4, std::min(end, line.find("  ", 4)) - 4);
        path.erase(path.find_last_not_of(' ') + 1);
        commands.push_back(path);
    }
    return commands;
}

/// Short ones that change nothing that the commands after them need.
std::map<std::string, Words, std::less<>> arguments_by_command(const std::string& process) {
    return {{"state item get", {"setup.pid"}},
            {"state item set", {"setup.debug_level", "0"}},
            {"port add", {"eth3"}},
            {"port remove", {"eth3"}},
            {"port present", {"eth1"}},
            {"port config update", {"eth1", "{}"}},
            {"port config dump", {"eth1"}},
            {"port drain", {"eth2", "--timeout=1"}},
            {"port undrain", {"eth2"}},
            {"clear statistics port", {"eth1"}},
            {"balance hash", {"src", "10.0.0.1", "dst", "10.0.0.2"}},
            {"balance move", {"7", "eth1", "now"}},
            {"workers bind", {process}},
            {"workers release", {process}},
            {"workers run", {"--", "true"}},
            {"top", {"--once"}},
            {"bench", {"--help"}}};
}

Words words_of_command(const std::string& path) {
    std::istringstream text(path);
    return {std::istream_iterator<std::string>(text), {}};
}

/// No command sleeps for less than a second, so that this holds on a busy machine.
constexpr auto at_once = 1s;

TEST(Waits, of_a_command_are_short_or_said) {
    const Cabling wires(2, FarSide::lag_switch);
    const TeamUnderTest team(team_config(by_flow, ports_object(2), R"("offload": {"repair": false}, )"));
    bring_up(wires, team);
    wires.add_cable(3);
    must(wires.host(), "ethtool -K eth2 tso off"); // so that "offload" measures
    auto process = Process::start({.argv = {"sleep", "1000"}});
    const auto arguments = arguments_by_command(std::to_string(process.pid()));
    const auto commands = commands_in_help();
    EXPECT_GE(commands.size(), 40U);
    std::size_t said = 0;
    for (const auto& command : commands) {
        auto words = words_of_command(command);
        if (const auto more = arguments.find(command); more != arguments.end())
            words.insert(words.end(), more->second.begin(), more->second.end());
        const auto start = SteadyClock::now();
        const auto done = team.teamoctl(words);
        auto took = since(start);
        EXPECT_NE(2, done.status) << command << ": " << done.err << "the test must give it arguments";
        const bool says_why = done.err.find(", at most ") != std::string::npos;
        said += says_why ? 1 : 0;
        // On a busy machine a command may take long once; one that waits does so each time.
        for (int more = 0; more < 2 && !says_why && took >= patient(at_once); ++more) {
            const auto again = SteadyClock::now();
            if (team.teamoctl(words).status == done.status) took = std::min(took, since(again));
        }
        EXPECT_TRUE(says_why || took < patient(at_once)) << command << " took " << took.count() << " ms";
    }
    EXPECT_GE(said, 5U) << "stats live, top, doctor, offload and port drain wait";
}

TEST(Waits, for_a_slow_daemon_are_said) {
    const Cabling wires(2, FarSide::lag_switch);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    team.signal(SIGSTOP);
    std::vector<Process> asking;
    for (const auto& words :
         {Words{"team0", "state"}, Words{"team0", "port", "config", "update", "eth1", "{}"}, Words{"metrics"},
          Words{}}) {
        Words argv{teamoctl_program()};
        argv.insert(argv.end(), words.begin(), words.end());
        asking.push_back(Process::start({.argv = argv, .environment = {"TEAMOCTL_TIMEOUT=60"}}));
    }
    for (const auto& one : asking)
        EXPECT_TRUE(eventually("it says that it waits for the daemon",
                               [&] { return one.err().find("waits for the") != std::string::npos; }));
    team.signal(SIGCONT);
    for (auto& one : asking)
        EXPECT_EQ(0, one.wait(10s)) << one.err();
}

TEST(Waits, are_one_line_with_the_time_left_on_a_terminal) {
    const Cabling wires(2, FarSide::lag_switch);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    const auto shown =
        must(wires.host(),
             fmt::format("script -qec '{} team0 stats live' /dev/null </dev/null", teamoctl_program()));
    EXPECT_THAT(
        shown, AllOf(HasSubstr("\r\033[?7lteam0: stats live: measures for a second, 0:01 left\033[K\033[?7h"),
                     HasSubstr("\r\033[Kteam0"), testing::Not(HasSubstr("at most"))));
}

} // namespace
} // namespace teamo::test
