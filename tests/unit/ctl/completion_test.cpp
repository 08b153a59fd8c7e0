// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The completion of bash. That of zsh is not tried: zsh need not be installed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

namespace teamo::ctl {
namespace {

/// What may follow these words of `teamoctl`, with blanks between. The team has the ports eth1 and eth2.
std::string completions_of(const std::string& words) {
    const auto script = fmt::format(". {}/packaging/completion/teamoctl.bash; "
                                    "_teamoctl_ports() {{ echo eth1 eth2; }}; "
                                    "COMP_WORDS=(teamoctl {} \"\"); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); "
                                    "_teamoctl; echo -n \"${{COMPREPLY[*]}}\"",
                                    TEAMO_SOURCE_DIR, words);
    auto* output = ::popen(fmt::format("bash -c '{}'", script).c_str(), "r");
    if (output == nullptr) return "no bash";
    std::string text;
    std::array<char, 512> part{};
    while (std::fgets(part.data(), part.size(), output) != nullptr)
        text += part.data();
    return ::pclose(output) == 0 ? text : "failed: " + text;
}

TEST(Completion, of_a_move_has_a_port_and_then_now) {
    EXPECT_EQ(completions_of("team0 balance move 137"), "eth1 eth2");
    EXPECT_EQ(completions_of("team0 balance move 137 eth1"), "now");
    EXPECT_EQ(completions_of("team0 balance move 137 eth1 now"), "");
}

TEST(Completion, has_no_word_for_a_command_without_a_team) {
    for (const auto* command : {"doctor", "metrics", "top"})
        EXPECT_EQ(completions_of(command), "") << command;
    EXPECT_EQ(completions_of("import"), "bond teamd");
    EXPECT_TRUE(completions_of("team0").starts_with("config state port")) << completions_of("team0");
}

} // namespace
} // namespace teamo::ctl
