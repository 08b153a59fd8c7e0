// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a local user may not do to the daemon, whose files are in /run (docs/threat-model.md).
//
// lab: LocalUser.* by none: the datapath does not matter
#include "netns/configs.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace teamo::test {
namespace {

namespace fs = std::filesystem;

/// Runs a line of shell as nobody; `groups`: an option of setpriv(1).
int as_user(const std::string& groups, const std::string& line) {
    return run({.argv = {"setpriv", "--reuid=65534", "--regid=65534", groups, "sh", "-c", line}}).status;
}

std::string content(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

TEST(LocalUser, reaches_no_file_and_no_device_of_the_daemon) {
    for (const auto* folder : {"/run/teamd", "/run/teamd-offload"})
        fs::remove_all(folder); // the daemon makes them
    const Cabling wires(2, FarSide::open);
    TeamUnderTest team(loadbalance(2));
    ASSERT_TRUE(team.await_link("eth1") && team.await_link("eth2"));
    const auto before = must(wires.host(), "find /run/teamd /run/teamd-offload -printf '%p %m\n' | sort");
    const auto journal = content("/run/teamd-offload/team0.json");
    const auto pid = std::to_string(team.pid());
    const std::vector<std::string> of_others{"ls /run/teamd", "ls /run/teamd-offload",
                                             "cat /run/teamd/team0.pid", teamoctl_program() + " metrics"};
    const std::vector<std::string> of_all{
        "cat /run/teamd-offload/team0.json",
        "ln -s /etc/passwd /run/teamd-offload/team0.json.new",
        "ln -s /etc/passwd /run/teamd/team1.pid",
        "rm -f /run/teamd/team0.sock && ! test -e /run/teamd/team0.sock",
        "mv /run/teamd /run/other",
        "kill " + pid,
        "cat /proc/" + pid + "/environ",
        "ls /proc/" + pid + "/fd",
        "ip link set eth1 down",
        "ip link set eth1 property del altname teamo-port-team0-1",
        "tc qdisc del dev eth1 clsact",
    };
    for (const auto& line : of_others)
        EXPECT_NE(0, as_user("--clear-groups", line)) << line;
    // The group of the daemon may read its state, by the socket alone. Here it is group 0.
    for (const auto* groups : {"--clear-groups", "--groups=0"})
        for (const auto& line : of_all)
            EXPECT_NE(0, as_user(groups, line)) << groups << ": " << line;
    EXPECT_EQ(before, must(wires.host(), "find /run/teamd /run/teamd-offload -printf '%p %m\n' | sort"));
    EXPECT_EQ(journal, content("/run/teamd-offload/team0.json"));
    for (const auto& file : fs::recursive_directory_iterator("/run/teamd-offload")) {
        struct stat status{};
        ASSERT_EQ(0, ::stat(file.path().c_str(), &status));
        EXPECT_EQ(0600U, status.st_mode & 0777U) << file.path();
    }
    EXPECT_EQ("true", team.item("ports.eth1.link.up"));
}

/// The administrator chose a directory in which others may write: what they put there is replaced, never
/// opened.
TEST(LocalUser, leads_the_metrics_nowhere) {
    const Cabling wires(2, FarSide::open);
    const std::string folder = "/run/test/metrics", metrics = folder + "/team.prom",
                      victim = "/run/test/victim";
    fs::create_directories(folder);
    fs::permissions(folder, fs::perms::all);
    std::ofstream(victim) << "whole";
    for (const auto* trap :
         {"ln -s {1} {0}.new", "ln -s {1} {0}", "mkfifo {0}.new", "echo x > {0}.new; chmod 666 {0}.new"}) {
        SCOPED_TRACE(trap);
        ASSERT_EQ(0, as_user("--clear-groups", fmt::format(fmt::runtime(trap), metrics, victim)));
        TeamUnderTest team(loadbalance(2), {"--metrics-file", metrics});
        EXPECT_TRUE(team.await_link("eth1"));
        EXPECT_EQ("whole", content(victim));
        EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(metrics)));
        struct stat status{};
        ASSERT_EQ(0, ::stat(metrics.c_str(), &status));
        EXPECT_EQ(0U, status.st_uid);
        EXPECT_EQ(0, team.stop());
        must(wires.host(), "rm -f " + metrics + "*");
    }
}

} // namespace
} // namespace teamo::test
