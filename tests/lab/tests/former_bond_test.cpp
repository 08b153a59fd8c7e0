// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A bond that is not what it was to the daemon: it went, or got another name, after the daemon was killed;
// its slave went to the bond of another team; a slave was away while events were lost. What the daemon has
// changed comes back, and what another team has put there stays.
//
// lab: FormerBond.* MovedSlave.* ReturnedSlave.* in -k newest -p 3, 80 s
// lab: FormerBond.* MovedSlave.* ReturnedSlave.* in -k 6.1 -p 2, 90 s, long
#include "lab/bonds.h"
#include "lab/guest.h"
#include "support/daemon/process.h"
#include "support/daemon/team_under_test.h"
#include "support/net/links.h"
#include "support/net/overrun.h"
#include "support/net/programs.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <fstream>

namespace teamo::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// p0 to p4, whose far ends are up.
class SparePorts {
public:
    SparePorts() {
        in_guest("for i in 0 1 2 3 4; do ip link add p$i type veth peer name f$i; ip link set f$i up; done");
    }
    SparePorts(const SparePorts&) = delete;
    SparePorts& operator=(const SparePorts&) = delete;
    ~SparePorts() {
        static_cast<void>(sh(NetNs::current(), "for bond in bond0 bond1 bond9; do ip link del $bond; done; "
                                               "for i in 0 1 2 3 4; do ip link del p$i; done"));
    }

    static void bond(const std::string& name, const std::string& options,
                     const std::vector<std::string>& ports) {
        in_guest(
            fmt::format("ip link add {0} type bond miimon 100 {1}; "
                        "for port in {2}; do ip link set $port down; ip link set $port master {0}; done; "
                        "ip link set {0} up",
                        name, options, fmt::join(ports, " ")));
        for (const auto& port : ports)
            await_operation(NetNs::current(), port);
    }
    static void rename(const std::string& from, const std::string& to) {
        in_guest(fmt::format("ip link set {0} down; ip link set {0} name {1}; ip link set {1} up", from, to));
    }
};

/// Offloads and programs of p0 and p1, which the daemon changes.
std::string as_left() {
    std::string all;
    for (const auto* port : {"p0", "p1"})
        all += in_guest(fmt::format(
                   "ethtool -k {0} | grep tx-tcp-seg; tc qdisc show dev {0} | grep clsact || :", port)) +
               our_programs(NetNs::current(), port);
    return all;
}

bool has_journal(const std::string& bond) {
    return std::filesystem::exists(fmt::format("/run/teamd-offload/{}.json", bond));
}

/// A daemon that may wait for its bond.
class Waiting {
public:
    explicit Waiting(const std::vector<std::string>& arguments)
        : daemon_(Process::start({.argv = daemon_command(arguments)})) {}
    ~Waiting() {
        if (testing::Test::HasFailure()) fmt::print("---- the daemon's log\n{}----\n", daemon_.err());
    }

    static std::string item(const std::string& bond, const std::string& path) {
        return run({.argv = {teamoctl_program(), bond, "state", "item", "get", path}}).out;
    }
    static testing::AssertionResult steers(const std::string& bond) {
        return becomes(std::string("true\n"), [&] { return item(bond, "attached.steered"); });
    }
    bool running() { return daemon_.running(); }
    std::string log() const { return daemon_.err(); }
    void signal(int number) const { daemon_.signal(number); }
    std::optional<int> end(int number) {
        signal(number);
        return daemon_.wait(patient(long_enough));
    }

private:
    Process daemon_;
};

std::string settings_of(const std::string& bond) {
    return fmt::format(R"({{"device": "{}", "attach": true, "guard": "arp", "offload": {{"tso": "off"}}}})",
                       bond);
}

/// A folder with the file for all bonds.
std::string folder_for_all() {
    const std::string folder = "/run/test/former";
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/attach.conf") << R"({"attach": "*", "guard": "arp", "offload": {"tso": "off"}})";
    return folder;
}

class FormerBond : public testing::Test {
protected:
    void take_up(const std::vector<std::string>& arguments, const std::string& mode) {
        SparePorts::bond("bond0", mode, {"p0", "p1"});
        Waiting killed(arguments);
        ASSERT_TRUE(Waiting::steers("bond0"));
        ASSERT_TRUE(eventually("changes its slaves", [&] { return as_left() != before; }));
        EXPECT_TRUE(has_journal("bond0"));
        killed.end(SIGKILL);
    }

    const SparePorts ports;
    const std::string before = as_left();
    const ConfigFile zero{settings_of("bond0")}, nine{settings_of("bond9")};
    const std::vector<std::string> for_zero{"-t", "bond0", "-f", zero.path()},
        for_nine{"-t", "bond9", "-f", nine.path()};
};

TEST_F(FormerBond, that_has_gone_leaves_its_slaves_as_they_were) {
    const std::vector<std::string> for_all{"--all", "--config-directory", folder_for_all()};
    for (const auto& [arguments, mode] :
         {std::pair{for_zero, "mode active-backup"}, std::pair{for_all, "mode balance-xor"}}) {
        take_up(arguments, mode);
        in_guest("ip link del bond0");
        EXPECT_NE(before, as_left());
        Waiting next(arguments);
        EXPECT_TRUE(becomes(before, as_left));
        EXPECT_TRUE(eventually("the journal is gone", [] { return !has_journal("bond0"); }));
        EXPECT_TRUE(next.running());
        SparePorts::bond("bond0", mode, {"p0", "p1"});
        EXPECT_TRUE(Waiting::steers("bond0"));
        EXPECT_EQ(0, next.end(SIGTERM));
        // A clsact stays on what carries.
        in_guest("ip link del bond0; for port in p0 p1; do tc qdisc del dev $port clsact || :; done");
        EXPECT_EQ(before, as_left());
    }
}

TEST_F(FormerBond, with_another_name_gets_its_policy_back) {
    SparePorts::bond("bond0", "mode balance-xor xmit_hash_policy layer2+3", {"p0", "p1"});
    const auto kill_and_rename = [&](const std::string& from, const std::string& to,
                                     const std::vector<std::string>& arguments) {
        Waiting killed(arguments);
        EXPECT_TRUE(Waiting::steers(from));
        EXPECT_TRUE(becomes(std::string("encap3+4"), [&] { return policy_of(from); }));
        killed.end(SIGKILL);
        SparePorts::rename(from, to);
        EXPECT_EQ("encap3+4", policy_of(to));
    };
    kill_and_rename("bond0", "bond9", for_zero);
    { // by a daemon that waits for the former name, although another bond has it
        in_guest("ip link add bond0 type bond mode balance-xor");
        Waiting next(for_zero);
        EXPECT_TRUE(becomes(std::string("layer2+3"), [] { return policy_of("bond9"); }));
        EXPECT_TRUE(becomes(std::string(), [] { return our_programs(NetNs::current(), "bond9"); }));
        EXPECT_EQ(0, next.end(SIGTERM));
        in_guest("ip link del bond0");
        EXPECT_FALSE(has_journal("bond0"));
    }
    SparePorts::rename("bond9", "bond0");
    kill_and_rename("bond0", "bond9", for_zero);
    { // by one for the name that it has now, which goes on with it
        Waiting next(for_nine);
        EXPECT_TRUE(becomes(std::string("layer2+3\n"),
                            [] { return Waiting::item("bond9", "attached.own_xmit_hash_policy"); }));
        EXPECT_TRUE(Waiting::steers("bond9"));
        EXPECT_EQ("encap3+4", policy_of("bond9"));
        EXPECT_FALSE(has_journal("bond0"));
        EXPECT_EQ(0, next.end(SIGTERM));
        EXPECT_EQ("layer2+3", policy_of("bond9"));
    }
    const std::vector<std::string> for_all{"--all", "--config-directory", folder_for_all()};
    kill_and_rename("bond9", "bond0", for_nine);
    { // by one for all names, also while it runs
        Waiting next(for_all);
        const auto is_attached_as = [](const char* name) {
            return becomes(std::string("layer2+3\n"),
                           [name] { return Waiting::item(name, "attached.own_xmit_hash_policy"); });
        };
        EXPECT_TRUE(is_attached_as("bond0"));
        SparePorts::rename("bond0", "bond9");
        EXPECT_TRUE(is_attached_as("bond9"));
        SparePorts::rename("bond9", "bond0");
        EXPECT_TRUE(is_attached_as("bond0"));
        EXPECT_EQ(0, next.end(SIGTERM));
        EXPECT_EQ("layer2+3", policy_of("bond0"));
        EXPECT_FALSE(has_journal("bond9"));
    }
}

/// By a bond's owner, to a bond that another team is attached to.
class MovedSlave : public testing::Test {
protected:
    MovedSlave() {
        SparePorts::bond("bond0", "mode active-backup", {"p0", "p4"});
        SparePorts::bond("bond1", "mode active-backup", {"p2", "p3"});
    }
    static void move(const std::string& to) {
        in_guest("ip link set p4 nomaster; ip link set p4 down; ip link set p4 master " + to);
    }
    /// Its programs are those of that team, and stay.
    static void belongs_to(const std::string& bond) {
        EXPECT_TRUE(becomes(std::string("true\n"), [&] { return Waiting::item(bond, "ports.p4.link.up"); }));
        const auto other = bond == "bond0" ? "bond1" : "bond0";
        EXPECT_TRUE(becomes(std::string(), [&] { return Waiting::item(other, "ports.p4.link.up"); }));
        const auto has_both = [] {
            const auto programs = our_programs(NetNs::current(), "p4");
            return programs.find("teamo_guard") != std::string::npos &&
                   programs.find("teamo_hand_in") != std::string::npos;
        };
        EXPECT_TRUE(has_both() || eventually("its programs are there", has_both));
    }

    const SparePorts ports;
};

TEST_F(MovedSlave, keeps_the_programs_of_its_new_team_in_the_same_process) {
    Waiting all({"--all", "--config-directory", folder_for_all()});
    ASSERT_TRUE(Waiting::steers("bond0") && Waiting::steers("bond1"));
    for (const auto* to : {"bond1", "bond0", "bond1", "bond0"}) {
        all.signal(SIGSTOP); // so that both teams hear of it at once
        move(to);
        all.signal(SIGCONT);
        belongs_to(to);
    }
    EXPECT_THAT(all.log(), Not(HasSubstr("was removed by another program")));
    EXPECT_EQ(0, all.end(SIGTERM));
    EXPECT_EQ("", our_programs(NetNs::current(), "p4"));
}

TEST_F(MovedSlave, keeps_the_programs_of_its_new_team_in_another_process) {
    const ConfigFile first{settings_of("bond0")}, second{settings_of("bond1")};
    Waiting from({"-t", "bond0", "-f", first.path()}), to({"-t", "bond1", "-f", second.path()});
    ASSERT_TRUE(Waiting::steers("bond0") && Waiting::steers("bond1"));
    from.signal(SIGSTOP); // so that it hears of it last
    move("bond1");
    const auto programs = [] { return our_programs(NetNs::current(), "p4"); };
    EXPECT_TRUE(becomes(std::string("true\n"), [] { return Waiting::item("bond1", "ports.p4.link.up"); }));
    EXPECT_TRUE(becomes(std::string("true\n"), [] { return Waiting::item("bond1", "attached.steered"); }));
    EXPECT_TRUE(eventually("those of the former team are replaced", [&] {
        const auto now = programs(), name = std::string("teamo_hand_in");
        return now.find(name) != std::string::npos && now.find(name) == now.rfind(name);
    }));
    from.signal(SIGCONT);
    belongs_to("bond1");
    EXPECT_THAT(to.log(), Not(HasSubstr("was removed by another program")));
    EXPECT_EQ(0, from.end(SIGTERM));
    EXPECT_EQ(0, to.end(SIGTERM));
    EXPECT_EQ("", programs());
}

/// The same device with the same index, in the same bond: nothing shows that it was elsewhere.
TEST(ReturnedSlave, is_steered_to_although_the_events_were_lost) {
    const Bonded bonded("balance-xor");
    TeamUnderTest team(R"({"device": "bond0", "attach": true,
        "ports": {"p0": {"drain": true}, "p1": {"drain": true}, "p2": {"drain": true}}})",
                       {}, "bond0");
    ASSERT_TRUE(team.await_item("ports.p3.datapath.buckets", "256"));
    const auto sends_by_it = [&] {
        const auto bytes = [&] { return team.item("ports.p3.datapath.counters.tx_steered_bytes"); };
        return eventually("sends by it", [&, before = bytes()] { return bytes() != before; });
    };
    Stream stream(bonded.way(1000));
    ASSERT_TRUE(sends_by_it());
    const auto away = NetNs::create();
    const auto index = look(NetNs::current(), "p3").index;
    team.signal(SIGSTOP);
    overrun(NetNs::current());
    in_guest(fmt::format("ip link set p3 netns {0}; nsenter --net={0} ip link set p3 netns $$; "
                         "ip link set p3 down; ip link set p3 master bond0",
                         away.path()));
    ASSERT_EQ(index, look(NetNs::current(), "p3").index);
    team.signal(SIGCONT);
    EXPECT_TRUE(eventually("the events are lost", [&] {
        return team.log().find("link events were lost; reading all devices again") != std::string::npos;
    }));
    EXPECT_TRUE(team.await_item("ports.p3.datapath.transmits", "true"));
    EXPECT_TRUE(team.await_item("ports.p3.datapath.buckets", "256"));
    EXPECT_TRUE(sends_by_it());
    EXPECT_THAT(team.log(), Not(HasSubstr("port p0: its device is gone")));
    stream.stop();
    EXPECT_EQ(0, team.stop());
}

} // namespace
} // namespace teamo::test
