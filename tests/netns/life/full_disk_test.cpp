// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The journal cannot be written, because the file system of /run is full.
//
// lab: FullDisk*.* by team, 15 s, long
#include "netns/configs.h"
#include "netns/life/operators.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace teamo::test {
namespace {

constexpr const char* journals = "/run/teamd-offload";

/// A file system of the journals alone, of eight pages: two journals of three ports and more.
class SmallDisk {
public:
    SmallDisk() {
        ::mkdir(journals, 0750);
        if (::mount("small", journals, "tmpfs", 0, "size=32k,mode=0750") < 0)
            throw SetupError("cannot mount a tmpfs");
    }
    ~SmallDisk() { ::umount2(journals, MNT_DETACH); }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;

    void fill() const {
        std::ofstream file(filler_, std::ios::binary);
        const std::string page(4096, 'x');
        while (file.write(page.data(), static_cast<std::streamsize>(page.size())).flush()) {
        }
    }
    void make_room() const { ::unlink(filler_.c_str()); }

private:
    const std::string filler_ = std::string(journals) + "/filler";
};

std::string journal_text() {
    std::ifstream file(std::string(journals) + "/team0.json");
    return {std::istreambuf_iterator<char>(file), {}};
}

/// eth1 and eth2 carry; eth3 is configured and not there yet.
struct FullDisk : testing::Test {
    SmallDisk disk;
    Cabling wires{2, FarSide::lag_switch};
    const std::string before1 = snapshot_of("eth1"), before2 = snapshot_of("eth2");
    TeamUnderTest team{loadbalance(3)};

    FullDisk() { bring_up(wires, team); }

    std::string snapshot_of(const std::string& port) const { return snapshot(wires.host(), port); }
    bool passes() const { return reaches(wires.host(), client_v4); }
    void expect_all_put_back() const {
        EXPECT_EQ("", difference(before1, snapshot_of("eth1")));
        EXPECT_EQ("", difference(before2, snapshot_of("eth2")));
        EXPECT_FALSE(exists(wires.host(), "team0"));
        EXPECT_EQ("", journal_text());
    }
};

TEST_F(FullDisk, port_waits_and_the_others_carry) {
    disk.fill();
    const auto known = journal_text();
    wires.add_cable(3);
    const auto before3 = snapshot_of("eth3");
    EXPECT_TRUE(
        eventually("the daemon says why", [&] { return lines_with(team.log(), "No space left") > 0; }));
    EXPECT_TRUE(stays(
        "eth3 is not touched", [&] { return difference(before3, snapshot_of("eth3")).empty(); }, 500ms));
    EXPECT_EQ(known, journal_text()) << "half of a journal is none";
    wires.pull(1);
    EXPECT_TRUE(team.await_link("eth1", false));
    EXPECT_TRUE(eventually("packets pass by eth2", [&] { return passes(); }));
    wires.plug(1);
    EXPECT_TRUE(team.await_link("eth1"));

    EXPECT_EQ(1U, lines_with(team.log(), "No space left"));
    disk.make_room();
    EXPECT_TRUE(team.await_link("eth3"));
    EXPECT_TRUE(eventually("eth3 is in the journal",
                           [&] { return journal_text().find("eth3") != std::string::npos; }));
    EXPECT_EQ(0, team.stop());
    expect_all_put_back();
}

TEST_F(FullDisk, next_daemon_adopts) {
    disk.fill();
    ASSERT_EQ(0, team.teamdctl({"port", "remove", "eth2"}).status);
    EXPECT_TRUE(
        eventually("eth2 is as before", [&] { return difference(before2, snapshot_of("eth2")).empty(); }));
    team.kill();
    EXPECT_TRUE(passes());
    team.start();
    EXPECT_TRUE(team.await_link("eth1"));
    EXPECT_TRUE(passes());
    EXPECT_THAT(team.log(), testing::HasSubstr("adopted the running team with 1 ports"));
    EXPECT_EQ(0, team.stop());
    expect_all_put_back();
}

TEST(FullDiskAtStart, changes_nothing) {
    const SmallDisk disk;
    disk.fill();
    const Cabling wires(2, FarSide::open);
    const auto before = snapshot(wires.host(), "eth1");
    const auto start = daemon_on(loadbalance(2));
    EXPECT_EQ(75, start.status) << "to be tried again";
    EXPECT_EQ(1U, lines_with(start.err, "No space left")) << start.err;
    EXPECT_FALSE(exists(wires.host(), "team0"));
    EXPECT_EQ("", difference(before, snapshot(wires.host(), "eth1")));
}

} // namespace
} // namespace teamo::test
