// SPDX-License-Identifier: LGPL-2.1-or-later
//
// teamoctl without arguments.
//
// lab: Overview.* by none: the datapath does not matter
#include "netns/configs.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace teamo::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string overview() {
    const auto shown = run({.argv = {teamoctl_program()}});
    EXPECT_EQ(0, shown.status) << shown.err;
    return shown.out;
}

/// The line with the command, which a new user copies.
std::string offered_command(const std::string& shown) {
    const auto begin = shown.find("\n  teamd-offload ");
    if (begin == std::string::npos) return {};
    return shown.substr(begin + 3, shown.find('\n', begin + 1) - begin - 3);
}

Output shell(const std::string& line) {
    const auto programs = std::filesystem::path(daemon_program()).parent_path().string();
    return run(
        {.argv = {"sh", "-c", line}, .environment = {"PATH=" + programs + ":/usr/sbin:/usr/bin:/sbin:/bin"}});
}

TEST(Overview, offers_a_command_that_starts_a_team) {
    const Cabling wires(2, FarSide::learning_switch);
    const auto before = overview();
    EXPECT_THAT(before,
                AllOf(StartsWith("No team runs on this machine.\n"), HasSubstr("\neth1  set down  free\n")));
    const auto command = offered_command(before);
    ASSERT_NE("", command) << before;
    const auto started = shell(command);
    ASSERT_EQ(0, started.status) << command << ": " << started.err;
    wires.address();
    EXPECT_TRUE(reaches(wires.host(), client_v4));
    EXPECT_THAT(overview(), AllOf(HasSubstr("team0  team activebackup"),
                                  HasSubstr("runs: 1 of 2 ports carry"), Not(HasSubstr("Start"))));
    const auto as_user = [] {
        const auto shown = run(
            {.argv = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", teamoctl_program()}});
        EXPECT_EQ(0, shown.status) << shown.err;
        return shown.out;
    };
    EXPECT_THAT(as_user(), StartsWith("team0  team  runs; only root and the group teamd-offload may ask\n"));
    std::filesystem::permissions("/run/teamd", std::filesystem::perms(0750)); // as systemd makes it
    EXPECT_THAT(as_user(), StartsWith("Which daemons run is not known: only root and the group teamd-offload "
                                      "may ask.\nteam0  team  carries on\n"));
    EXPECT_EQ(0, shell("teamd-offload -k -t team0").status);
    EXPECT_THAT(overview(), StartsWith("No team runs on this machine.\n"));
}

TEST(Overview, names_a_daemon_that_waits_for_its_device) {
    const auto daemon = Process::start({.argv = daemon_command({"-t", "bond0", "--attach"})});
    ASSERT_TRUE(eventually("it listens", [] { return std::filesystem::exists("/run/teamd/bond0.sock"); }));
    EXPECT_THAT(overview(), StartsWith("bond0  team  its daemon waits for a bond of that name"));
    EXPECT_THAT(run({.argv = {teamoctl_program(), "bond0", "state"}}).err,
                StartsWith("Device \"bond0\" does not exist; its daemon waits for a bond of that name"));
}

} // namespace
} // namespace teamo::test
