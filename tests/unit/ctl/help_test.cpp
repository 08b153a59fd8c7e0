// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/commands.h"

#include "unit/lines.h"

#include <gmock/gmock.h>

#include <fstream>
#include <set>
#include <sstream>

namespace teamo::ctl {
namespace {

using testing::AllOf;
using testing::Each;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

using Words = std::vector<std::string>;

constexpr std::size_t terminal_width = 80;

std::string help(const Words& words) {
    const auto text = help_on("teamoctl", words);
    return text ? *text : "error: " + text.error().text;
}

/// The paths of the ".It Cm" entries. ".It Cm state Op Cm view" is "state" and "state view".
std::set<std::string> commands_in_manual() {
    std::set<std::string> paths;
    std::ifstream page(TEAMO_SOURCE_DIR "/man/teamoctl.8");
    for (std::string line; std::getline(page, line);) {
        std::istringstream words(line);
        std::string word, path;
        words >> word;
        if (word != ".It" || !(words >> word) || word != "Cm") continue;
        while (words >> word && word != "Ar") {
            if (word == "Op") paths.insert(path);
            if (word != "Op" && word != "Cm") path += (path.empty() ? "" : " ") + word;
        }
        paths.insert(path);
    }
    return paths;
}

TEST(Help, has_a_line_of_at_most_80_columns_for_each_command) {
    const auto text = help_text("teamoctl");
    EXPECT_THAT(lines_of(text), Each(SizeIs(testing::Le(terminal_width)))) << text;
    for (const auto& command : commands()) {
        if (command.run == nullptr && command.alone == nullptr) continue;
        EXPECT_NE(command.summary.empty(), command.same_as.empty()) << command.path;
        EXPECT_THAT(text, HasSubstr(fmt::format("\n    {}", usage_of(command))));
    }
}

TEST(Help, aligns_commands_and_texts) {
    EXPECT_THAT(
        help_text("teamoctl"),
        AllOf(HasSubstr("\n    port add PORTDEV                   add a device to the team\n"),
              HasSubstr("\n    port config update PORTDEV PORTCONFIG\n"
                        "                                       replace the configuration of a port\n"),
              HasSubstr("\n    state                              same as \"state view\"\n")));
}

TEST(Help, describes_each_command_in_a_few_lines) {
    for (const auto& command : commands()) {
        if (command.summary.empty()) continue;
        const auto lines = lines_of(std::string(command.text));
        EXPECT_GE(lines.size(), 1U) << command.path;
        EXPECT_LE(lines.size(), 8U) << command.path;
        EXPECT_THAT(lines, Each(SizeIs(testing::Le(terminal_width)))) << command.path;
        EXPECT_THAT(command.text, Not(EndsWith("\n"))) << command.path;
    }
}

TEST(Help, describes_only_commands_that_the_manual_has) {
    const auto manual = commands_in_manual();
    for (const auto& command : commands()) {
        if (command.run == nullptr && command.alone == nullptr) continue;
        EXPECT_TRUE(manual.contains(std::string(command.path))) << command.path;
    }
}

TEST(Help, on_a_command_has_usage_and_description) {
    EXPECT_EQ(help({"port", "present"}),
              "usage: teamoctl teamdevname port present PORTDEV\n"
              "\n"
              "Prints nothing on standard output. Exits with 0 if PORTDEV is a port of the\n"
              "team, otherwise with 1.\n");
    EXPECT_THAT(help({"balance", "hash"}),
                StartsWith("usage: teamoctl [--json] teamdevname balance hash PACKET ...\n"));
    EXPECT_THAT(help({"workers", "bind"}),
                StartsWith("usage: teamoctl teamdevname workers bind PID [follow|spread]\n"));
    EXPECT_THAT(help({"port", "remove"}), StartsWith("usage: teamoctl [--dry-run [--json]] teamdevname "));
    EXPECT_THAT(help({"doctor"}), StartsWith("usage: teamoctl [--json] [--measure=PORTDEV] teamdevname "));
}

TEST(Help, on_a_command_without_a_team) {
    EXPECT_THAT(help({"import", "bond"}), StartsWith("usage: teamoctl import bond IFACE\n\nPrints"));
    EXPECT_THAT(help({"import"}), HasSubstr("usage: teamoctl import teamd [FILE...]\n"));
    EXPECT_THAT(help_text("teamoctl"),
                HasSubstr("\n    doctor                             report problems of all teams\n"));
    EXPECT_THAT(help({"metrics"}), StartsWith("usage: teamoctl teamdevname metrics\n"));
}

TEST(Help, accepts_abbreviated_commands) {
    EXPECT_EQ(help({"ba", "h"}), help({"balance", "hash"}));
    EXPECT_EQ(help({"p", "c", "u"}), help({"port", "config", "update"}));
}

TEST(Help, on_a_prefix_lists_its_commands) {
    EXPECT_THAT(help({"port", "config"}),
                AllOf(StartsWith("Commands of \"port config\":\n"), HasSubstr("port config dump PORTDEV"),
                      Not(HasSubstr("add"))));
    EXPECT_THAT(help({"interrupts"}),
                AllOf(StartsWith("usage: teamoctl [--json] teamdevname interrupts\n\nShows for each port"),
                      HasSubstr("Commands of \"interrupts\":\n"), HasSubstr("interrupts plan")));
    EXPECT_EQ(help({}), help_text("teamoctl"));
}

TEST(Help, on_an_unknown_command_is_an_error) {
    EXPECT_EQ(help({"fly"}), "error: Unknown command \"fly\".");
    EXPECT_EQ(help({"port", "add", "eth1"}), "error: Unknown command \"port add eth1\".");
}

} // namespace
} // namespace teamo::ctl
