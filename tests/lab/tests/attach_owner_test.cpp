// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the owner of a bond does while a daemon is attached to it, and the files by which it is attached.
//
// lab: AttachOwner.* in -k newest -p 3, 75 s
#include "lab/bonds.h"
#include "lab/guest.h"
#include "support/daemon/process.h"
#include "support/daemon/team_under_test.h"
#include "support/net/links.h"
#include "support/traffic/traffic.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

namespace teamo::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

void set_policy(const char* name) {
    in_guest(fmt::format("ip link set bond0 type bond xmit_hash_policy {}", name));
}

TEST(AttachOwner, follows_what_the_owner_of_the_bond_does) {
    const Bonded bonded("802.3ad");
    TeamUnderTest team(attach, {}, "bond0");
    ASSERT_TRUE(is_steered(team));
    // Ours is set again once, and then the owner's stays.
    set_policy("layer3+4");
    EXPECT_TRUE(team.await_item("attached.own_xmit_hash_policy", "layer3+4"));
    EXPECT_TRUE(is_steered(team));
    set_policy("layer2");
    EXPECT_TRUE(team.await_item("attached.unsteered_by", "owner"));
    std::this_thread::sleep_for(4s);
    EXPECT_EQ("layer2", policy());
    EXPECT_THAT(team.teamoctl({"doctor"}).out, AllOf(HasSubstr("another program sets the policy layer2"),
                                                     HasSubstr("set xmit_hash_policy to encap3+4 where")));
    EXPECT_TRUE(reaches(NetNs::current(), far_address));
    // A slave that comes and goes by other hands.
    in_guest("ip link set p3 nomaster");
    EXPECT_TRUE(team.await_item("ports.p3.link.up", ""));
    in_guest("ip link set p3 down; ip link set p3 master bond0");
    EXPECT_TRUE(team.await_item("ports.p3.datapath.transmits", "true"));
    const auto refused = team.teamdctl({"port", "remove", "p3"});
    EXPECT_NE(0, refused.status);
    EXPECT_THAT(refused.err, HasSubstr("bond0 belongs to the program that made it"));
    // Deleted and made again: a new bond.
    bonded.remove();
    EXPECT_TRUE(eventually("the daemon waits", [&] { return !team.ask("StateDump").has_value(); }));
    EXPECT_TRUE(team.running());
    bonded.make();
    EXPECT_TRUE(is_steered(team));
    EXPECT_EQ("layer2+3", team.item("attached.own_xmit_hash_policy"));
    bonded.await_path();
    // What is noted of a slave stays with it under another name, also for the next daemon.
    EXPECT_EQ(0, team.teamoctl({"port", "drain", "p3"}).status);
    in_guest("ip link set p3 down; ip link set p3 name q3; ip link set q3 up");
    EXPECT_TRUE(team.await_item("ports.q3.drain.by_hand", "true"));
    team.kill();
    team.start();
    EXPECT_TRUE(team.await_item("ports.q3.drain.by_hand", "true"));
    in_guest("ip link set q3 down; ip link set q3 name p3; ip link set p3 up");
    // A bond with another name is no longer the one that is attached.
    in_guest("ip link set bond0 down; ip link set bond0 name bond9");
    EXPECT_TRUE(becomes(true, [] {
        return in_guest("ip -d link show bond9").find("xmit_hash_policy layer2+3") != std::string::npos;
    }));
    in_guest("ip link set bond9 name bond0; ip link set bond0 up");
    EXPECT_TRUE(is_steered(team));
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ("layer2+3", policy());
}

/// Changes by other hands at random. At the end the bond is as its owner has left it.
class Owner {
public:
    explicit Owner(const Bonded& bonded, unsigned seed) : bonded_(bonded), random_(seed) {}

    void change() {
        switch (random_() % 8) {
        case 0: return write_policy();
        case 1:
            return sh_here("ip link set {0} nomaster; ip link set {0} down; ip link set {0} master bond0");
        case 2: return sh_here("ip link set {0} nomaster");
        case 3: return sh_here("ip link set {0} down; ip link set {0} master bond0");
        case 4: return flap();
        case 5: return sh_here("ip link set bond0 down; ip link set bond0 up");
        case 6:
            return sh_here("ip link set bond0 down; ip link set bond0 name bond9; ip link set bond9 up; "
                           "ip link set bond9 down; ip link set bond9 name bond0; ip link set bond0 up");
        default: return make_again();
        }
    }
    /// All slaves in, all cables plugged.
    void tidy() {
        for (unsigned number = 0; number < Bonded::slaves; ++number) {
            must(bonded_.far(), fmt::format("ip link set f{} up", number));
            static_cast<void>(
                sh(NetNs::current(), fmt::format("ip link set p{0} down; ip link set p{0} master bond0; "
                                                 "ip link set p{0} up",
                                                 number)));
        }
    }
    const std::string& policy() const { return policy_; }

private:
    void sh_here(fmt::format_string<std::string> line) {
        static_cast<void>(
            sh(NetNs::current(), fmt::format(line, fmt::format("p{}", random_() % Bonded::slaves))));
    }
    void write_policy() {
        constexpr std::array names{"layer2", "layer2+3", "layer3+4", "encap2+3", "vlan+srcmac"};
        policy_ = names[random_() % names.size()];
        set_policy(policy_.c_str());
    }
    void flap() {
        const auto port = random_() % Bonded::slaves;
        must(bonded_.far(),
             fmt::format("ip link set f{0} down; sleep 0.0{1}; ip link set f{0} up", port, random_() % 10));
    }
    void make_again() {
        bonded_.remove();
        bonded_.make();
        policy_ = "layer2+3";
    }

    const Bonded& bonded_;
    std::mt19937 random_;
    std::string policy_ = "layer2+3";
};

TEST(AttachOwner, leaves_the_bond_as_its_owner_wants_it_after_random_changes) {
    const unsigned changes = std::getenv("TEAMO_LONG") == nullptr ? 20 : 1000;
    const auto* seconds = std::getenv("TEAMO_CHANGES_FOR"); // at least that long
    const auto until = SteadyClock::now() + 1s * (seconds == nullptr ? 0 : std::atoi(seconds));
    const Bonded bonded("802.3ad");
    TeamUnderTest team(attach, {}, "bond0");
    Owner owner(bonded, 4912);
    unsigned number = 0;
    for (; number < changes || SteadyClock::now() < until; ++number) {
        owner.change();
        if (number % 8 == 7) {
            ASSERT_TRUE(team.running()) << number;
            EXPECT_TRUE(eventually("the daemon answers", [&] { return team.ask("StateDump").has_value(); }));
            EXPECT_TRUE(team.await_item("attached.own_xmit_hash_policy", owner.policy())) << number;
        }
    }
    fmt::print("{} changes\n", number);
    owner.tidy();
    for (unsigned slave = 0; slave < Bonded::slaves; ++slave)
        EXPECT_TRUE(team.await_item(fmt::format("ports.p{}.datapath.transmits", slave), "true", 15s));
    bonded.await_path();
    const bool steered = team.item("attached.steered") == "true";
    EXPECT_EQ(steered ? "encap3+4" : owner.policy(), policy());
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ(owner.policy(), policy());
}

TEST(AttachOwner, is_for_all_bonds_without_a_file_of_their_own) {
    const Bonded bond("balance-xor");
    const std::string folder = "/run/test/all";
    in_guest(fmt::format("mkdir -p {0} && echo '{{\"attach\": \"*\"}}' > {0}/attach.conf", folder));
    auto all = Process::start({.argv = daemon_command({"--all", "--config-directory", folder})});
    EXPECT_TRUE(becomes(std::string("encap3+4"), policy)) << all.err();
    bond.remove();
    bond.make();
    EXPECT_TRUE(becomes(std::string("encap3+4"), policy)) << all.err();
    const auto is_known = [] { return in_guest("ls /run/teamd | grep -c bond9.sock || true"); };
    in_guest(
        "ip link add p9 type veth peer name f9; ip link set f9 up; "
        "ip link add bond9 type bond mode balance-xor; ip link set p9 master bond9; ip link set bond9 up");
    EXPECT_TRUE(becomes(std::string("1\n"), is_known)) << all.err();
    EXPECT_TRUE(eventually("its policy is changed", [] {
        return in_guest("cat /sys/class/net/bond9/bonding/xmit_hash_policy").starts_with("encap3+4");
    }));
    // A file may have another name of it.
    in_guest(fmt::format(
        "ip link property add dev bond9 altname lan9; echo '{{\"attach\": true}}' > {}/lan9.conf", folder));
    all.signal(SIGHUP);
    EXPECT_TRUE(becomes(std::string("0\n"), is_known)) << all.err();
    EXPECT_TRUE(
        eventually("the team of its file", [] { return std::filesystem::exists("/run/teamd/lan9.sock"); }));
    in_guest(fmt::format("rm {0}/lan9.conf; ln -sf /nowhere {0}/attach.conf", folder));
    all.signal(SIGHUP);
    EXPECT_TRUE(eventually("a link that leads nowhere", [&] {
        return all.err().find("nothing is changed: configuration:") != std::string::npos;
    })) << all.err();
    EXPECT_EQ("encap3+4", policy());
    in_guest(fmt::format("rm {0}/attach.conf; echo '{{\"attach\": \"*\"}}' > {0}/attach.conf", folder));
    all.signal(SIGHUP);
    EXPECT_TRUE(becomes(std::string("1\n"), is_known)) << all.err();
    EXPECT_EQ("encap3+4", policy());
    in_guest("ip link del bond9; ip link del p9");
    EXPECT_TRUE(becomes(std::string("0\n"), is_known)) << all.err();
    EXPECT_EQ("0\n", in_guest("ls /run/teamd-offload | grep -c bond9.json || true"));
    all.signal(SIGTERM);
    EXPECT_EQ(0, all.wait(long_enough));
    EXPECT_EQ("layer2+3", policy());
}

TEST(AttachOwner, without_a_file_refuses_one_for_a_team) {
    in_guest("ip link add bond0 type bond mode balance-xor");
    const std::string file = "/run/test/later.conf";
    auto one = Process::start({.argv = daemon_command({"--or-attach", "-t", "bond0", "-f", file})});
    EXPECT_TRUE(eventually("it is attached",
                           [&] { return one.err().find("attached to bond0") != std::string::npos; }));
    std::ofstream(file) << R"({"runner": {"name": "loadbalance"}})";
    one.signal(SIGHUP);
    EXPECT_TRUE(eventually("why not", [&] {
        return one.err().find("/attach: bond0 is a bond of another program; add \"attach\": true") !=
               std::string::npos;
    })) << one.err();
    one.signal(SIGTERM);
    EXPECT_EQ(0, one.wait(long_enough));
    in_guest("ip link del bond0");
}

} // namespace
} // namespace teamo::test
