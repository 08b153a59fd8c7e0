// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A bond that another program made, with a VLAN and a bridge on top: the daemon attaches to it, steers it in
// its own mode, and leaves it as it was (docs/adr/0038). The partner is the kernel's bonding in a namespace.
//
// lab: Attach.* *AttachedBond.* in -k newest -p 2, 60 s
// lab: *AttachedBond.* in -k 6.1 -p 2, 40 s
#include "lab/guest.h"
#include "support/daemon/process.h"
#include "support/daemon/team_under_test.h"
#include "support/net/links.h"
#include "support/traffic/traffic.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <random>
#include <regex>

namespace teamo::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;

constexpr unsigned slaves = 4;
constexpr const char* near_address = "10.5.0.1";
constexpr const char* far_address = "10.5.0.2";
const std::string attach = R"({"device": "bond0", "attach": true})";

/// bond0 over p0 to p3, and the same at the far end, with a VLAN on both and a bridge on the near one.
class Bonded {
public:
    explicit Bonded(const std::string& mode) : mode_(mode) {
        for (unsigned number = 0; number < slaves; ++number)
            in_guest(fmt::format("ip link add p{0} type veth peer name f{0} netns {1}", number, far_.path()));
        make();
        make_end(far_, "f");
        far_.ip(fmt::format("link add link bond0 name bond0.7 type vlan id 7\naddr add {}/24 dev bond0.7\n"
                            "link set bond0.7 up",
                            far_address));
        await_path();
    }
    Bonded(const Bonded&) = delete;
    Bonded& operator=(const Bonded&) = delete;
    ~Bonded() {
        static_cast<void>(sh(NetNs::current(), "ip link del br0; ip link del bond0; "
                                               "for port in p0 p1 p2 p3; do ip link del $port; done"));
    }

    /// The near end, as a program makes it.
    void make() const {
        make_end(NetNs::current(), "p");
        in_guest(
            fmt::format("ip link add br0 type bridge; ip link add link bond0 name bond0.7 type vlan id 7; "
                        "ip link set bond0.7 master br0; ip addr add {}/24 dev br0; "
                        "ip link set bond0.7 up; ip link set br0 up",
                        near_address));
    }
    void remove() const { in_guest("ip link del br0; ip link del bond0"); }
    void await_path() const {
        if (!reaches(NetNs::current(), far_address, 15s)) throw SetupError("the bond does not carry");
        if (mode_ == "802.3ad" && !becomes(slaves, [this] { return collecting(); }, 15s))
            throw SetupError("LACP does not aggregate all slaves");
    }

    const NetNs& far() const { return far_; }
    /// The far ends whose partner LACP knows, and which collect and distribute: 0x3f.
    unsigned collecting() const {
        unsigned count = 0;
        for (unsigned number = 0; number < slaves; ++number)
            if (must(far_, fmt::format("ip -d link show f{}", number)).find("ad_actor_oper_port_state 63") !=
                std::string::npos)
                ++count;
        return count;
    }
    /// What the near end is like.
    static std::string settings() {
        std::string all;
        for (const auto* device : {"bond0", "p0", "p1", "p2", "p3", "br0", "bond0.7"})
            all += snapshot(NetNs::current(), device) + in_guest(fmt::format("ethtool -k {}", device));
        return std::regex_replace(all, std::regex("\"[a-z_]*timer\": [0-9.]*"), ""); // of the bridge
    }
    Stream::Way way(unsigned rate = 10'000) const {
        return {.from = &here_, .to = &far_, .address = far_address, .rate = rate};
    }
    /// The slave that sends most now.
    static std::string busiest() {
        std::vector<std::uint64_t> before;
        const auto sent = [](unsigned number) {
            return counters(NetNs::current(), fmt::format("p{}", number)).tx_packets;
        };
        for (unsigned number = 0; number < slaves; ++number)
            before.push_back(sent(number));
        std::this_thread::sleep_for(100ms);
        unsigned most = 0;
        std::uint64_t packets = 0;
        for (unsigned number = 0; number < slaves; ++number)
            if (const auto now = sent(number) - before[number]; now > packets) {
                packets = now;
                most = number;
            }
        return fmt::format("p{}", most);
    }

private:
    void make_end(const NetNs& in, const char* port) const {
        in.ip(fmt::format("link add bond0 type bond mode {} miimon 100 xmit_hash_policy layer2+3 {}", mode_,
                          mode_ == "802.3ad" ? "lacp_rate fast" : ""));
        for (unsigned number = 0; number < slaves; ++number)
            in.ip(fmt::format("link set {0}{1} down\nlink set {0}{1} master bond0", port, number));
        in.ip("link set bond0 up");
    }

    std::string mode_;
    NetNs here_ = NetNs::current(), far_ = NetNs::create();
};

std::string policy() {
    return in_guest("ip -d link show bond0 | grep -o 'xmit_hash_policy [^ ]*' | cut -d' ' -f2 | tr -d '\\n'");
}
void set_policy(const char* name) {
    in_guest(fmt::format("ip link set bond0 type bond xmit_hash_policy {}", name));
}

testing::AssertionResult is_steered(const TeamUnderTest& team) {
    if (const auto steered = team.await_item("attached.steered", "true"); !steered) return steered;
    return becomes(std::string("encap3+4"), policy);
}

/// The bucket of the stream between the two ends, whose policy hashes addresses only.
std::string bucket_of_stream(const TeamUnderTest& team) {
    const auto mac = [](const char* device) { return look(NetNs::current(), device).address; };
    const auto far = in_guest(
        fmt::format("ip neigh show {} | grep -o 'lladdr [^ ]*' | cut -d' ' -f2 | tr -d '\\n'", far_address));
    const auto said = team.teamoctl(
        {"balance", "hash", "src", near_address, "dst", far_address, "smac", mac("br0"), "dmac", far});
    const auto at = said.out.find("bucket ");
    if (at == std::string::npos) throw SetupError("no bucket: " + said.out + said.err);
    const auto end = said.out.find_first_not_of("0123456789", at + 7);
    return said.out.substr(at + 7, end - at - 7);
}

class AttachedBond : public testing::TestWithParam<const char*> {};

/// With tcx nothing is lost by attaching and detaching; clsact costs packets (see the note in the test).
TEST_P(AttachedBond, is_steered_under_traffic_and_left_as_it_was) {
    const Bonded bonded(GetParam());
    in_guest("ethtool -K p1 tso off"); // nobody asks the daemon to repair it
    const auto before = bonded.settings();
    const bool has_tcx = is_at_least(6, 6);
    Stream stream(bonded.way());
    ASSERT_TRUE(stream.flows(2000));
    {
        TeamUnderTest team(attach, {}, "bond0");
        ASSERT_TRUE(is_steered(team));
        EXPECT_EQ(GetParam(), team.item("attached.mode"));
        EXPECT_EQ("layer2+3", team.item("attached.own_xmit_hash_policy"));
        for (unsigned number = 0; number < slaves; ++number)
            EXPECT_TRUE(team.await_item(fmt::format("ports.p{}.datapath.transmits", number), "true"));
        const auto bucket = bucket_of_stream(team);
        const auto first = stream.next();
        for (unsigned number = 0; number < slaves; ++number) {
            const auto port = fmt::format("p{}", number);
            const auto moved = team.teamoctl({"balance", "move", bucket, port, "now"});
            ASSERT_EQ(0, moved.status) << moved.err;
            ASSERT_TRUE(stream.flows(1000));
            EXPECT_EQ(port, bonded.busiest());
        }
        const auto tally = stream.tally(first, stream.next() - 1000);
        EXPECT_EQ(0U, tally.lost) << text_of(tally);
        EXPECT_EQ(0, team.stop());
    }
    EXPECT_EQ("layer2+3", policy());
    ASSERT_TRUE(stream.flows(2000));
    stream.stop();
    const auto tally = stream.tally();
    fmt::print("{}, tcx {}: {}\n", GetParam(), has_tcx ? "yes" : "no", text_of(tally));
    if (has_tcx) {
        EXPECT_EQ(0U, tally.lost);
        EXPECT_EQ("", difference(before, bonded.settings()));
    } else { // the kernel takes the queues out of use while clsact is made; it stays, because its removal
             // does too
        EXPECT_THAT(difference(before, bonded.settings()), MatchesRegex("(\\+qdisc clsact [^\n]*\n)?"));
    }
    if (GetParam() == std::string("802.3ad")) {
        EXPECT_EQ(slaves, bonded.collecting());
    }
}

/// The program sees the lost link itself, and looks for the slave in bonding's own table.
TEST_P(AttachedBond, avoids_a_lost_link_without_the_daemon) {
    const Bonded bonded(GetParam());
    TeamUnderTest team(attach, {}, "bond0");
    ASSERT_TRUE(is_steered(team));
    Stream stream(bonded.way());
    for (const int signal : {0, SIGSTOP, SIGKILL}) {
        if (signal != 0) team.signal(signal);
        ASSERT_TRUE(stream.flows(2000));
        const auto port = bonded.busiest();
        const auto dropped = [&port] { return counters(NetNs::current(), port).tx_dropped; };
        const auto before = dropped();
        const auto first = stream.next();
        must(bonded.far(), fmt::format("ip link set f{} down", port.substr(1)));
        ASSERT_TRUE(stream.flows(2000));
        const auto tally = stream.tally(first, stream.next() - 1000);
        // What veth drops until it says that the far end is down (dev_deactivate_many() waits for RCU).
        const auto in_cable = dropped() - before;
        fmt::print("{}, signal {}, {}: {}\n", GetParam(), signal, port, text_of(tally));
        EXPECT_GE(in_cable + 1, tally.lost);
        must(bonded.far(), fmt::format("ip link set f{} up", port.substr(1)));
        bonded.await_path();
        if (signal == SIGSTOP) team.signal(SIGCONT);
    }
    stream.stop();
    EXPECT_EQ("encap3+4", policy());
    team.kill();
    team.start();
    ASSERT_TRUE(is_steered(team));
    EXPECT_EQ("layer2+3", team.item("attached.own_xmit_hash_policy"));
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ("layer2+3", policy());
}

INSTANTIATE_TEST_SUITE_P(In, AttachedBond, testing::Values("802.3ad", "balance-xor"),
                         [](const auto& mode) { return mode.param[0] == '8' ? "lacp" : "xor"; });

TEST(Attach, follows_what_the_owner_of_the_bond_does) {
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
        for (unsigned number = 0; number < slaves; ++number) {
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
        static_cast<void>(sh(NetNs::current(), fmt::format(line, fmt::format("p{}", random_() % slaves))));
    }
    void write_policy() {
        constexpr std::array names{"layer2", "layer2+3", "layer3+4", "encap2+3", "vlan+srcmac"};
        policy_ = names[random_() % names.size()];
        set_policy(policy_.c_str());
    }
    void flap() {
        const auto port = random_() % slaves;
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

TEST(Attach, leaves_the_bond_as_its_owner_wants_it_after_random_changes) {
    const unsigned changes = std::getenv("TEAMO_LONG") == nullptr ? 40 : 1000;
    const Bonded bonded("802.3ad");
    TeamUnderTest team(attach, {}, "bond0");
    Owner owner(bonded, 4912);
    for (unsigned number = 0; number < changes; ++number) {
        owner.change();
        if (number % 8 == 7) {
            ASSERT_TRUE(team.running()) << number;
            EXPECT_TRUE(eventually("the daemon answers", [&] { return team.ask("StateDump").has_value(); }));
            EXPECT_TRUE(team.await_item("attached.own_xmit_hash_policy", owner.policy())) << number;
        }
    }
    owner.tidy();
    for (unsigned number = 0; number < slaves; ++number)
        EXPECT_TRUE(team.await_item(fmt::format("ports.p{}.datapath.transmits", number), "true", 15s));
    bonded.await_path();
    const bool steered = team.item("attached.steered") == "true";
    EXPECT_EQ(steered ? "encap3+4" : owner.policy(), policy());
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ(owner.policy(), policy());
}

/// Bonding would notice the lost link within a minute.
TEST(Attach, makes_a_backup_active_as_soon_as_the_active_slave_has_lost_its_link) {
    const auto here = NetNs::current(), far = NetNs::create();
    in_guest(
        fmt::format("for i in 0 1; do ip link add p$i type veth peer name f$i netns {}; done", far.path()));
    far.ip(fmt::format("link add br0 type bridge mcast_snooping 0\nlink set f0 master br0 up\n"
                       "link set f1 master br0 up\naddr add {}/24 dev br0\nlink set br0 up",
                       far_address));
    in_guest(fmt::format("ip link set p0 up; ip link set p1 up; ip link set p0 down; ip link set p1 down; "
                         "ip link add bond0 type bond mode active-backup miimon 60000; "
                         "for i in 0 1; do ip link set p$i master bond0; done; ip link set bond0 up; "
                         "ip addr add {}/24 dev bond0",
                         near_address));
    ASSERT_TRUE(reaches(here, far_address, 15s));
    const auto active = [] {
        return in_guest("cat /sys/class/net/bond0/bonding/active_slave | tr -d '\\n'");
    };
    TeamUnderTest team(attach, {}, "bond0");
    ASSERT_TRUE(team.await_item("attached.unsteered_by", "mode"));
    Stream stream({.from = &here, .to = &far, .address = far_address});
    ASSERT_TRUE(stream.flows(2000));
    const auto port = active();
    const auto other = port == "p0" ? "p1" : "p0";
    const auto first = stream.next();
    must(far, fmt::format("ip link set f{} down", port.substr(1)));
    EXPECT_TRUE(becomes(std::string(other), active));
    EXPECT_TRUE(stream.flows(2000));
    EXPECT_TRUE(team.await_item(fmt::format("ports.{}.datapath.transmits", other), "true"));
    EXPECT_TRUE(team.await_item(fmt::format("ports.{}.datapath.transmits", port), "false"));
    stream.stop();
    fmt::print("{}\n", text_of(stream.tally(first, stream.next())));
    EXPECT_EQ(0, team.stop());
    in_guest("ip link del bond0; ip link del p0; ip link del p1");
}

TEST(Attach, watches_a_bond_that_it_cannot_steer) {
    for (const auto& [mode, options, by] : {std::tuple{"active-backup", "", "mode"},
                                            {"balance-xor", "xmit_hash_policy vlan+srcmac", "policy"}}) {
        in_guest(fmt::format(
            "ip link add p0 type veth peer name f0; ip link add p1 type veth peer name f1; "
            "ip link set f0 up; ip link set f1 up; ip link add bond0 type bond mode {} miimon 100 {}; "
            "ip link set p0 master bond0; ip link set p1 master bond0; ip link set bond0 up",
            mode, options));
        for (const auto* device : {"bond0", "p0", "p1"})
            await_operation(NetNs::current(), device);
        const auto before = snapshot(NetNs::current(), "bond0") + snapshot(NetNs::current(), "p0");
        {
            TeamUnderTest team(attach, {}, "bond0");
            EXPECT_TRUE(team.await_item("attached.unsteered_by", by));
            EXPECT_TRUE(team.await_item("ports.p0.link.up", "true"));
            EXPECT_THAT(team.teamoctl({"doctor"}).out, HasSubstr("bonding chooses the slaves"));
            EXPECT_EQ(before, snapshot(NetNs::current(), "bond0") + snapshot(NetNs::current(), "p0"));
            EXPECT_EQ(0, team.stop());
        }
        EXPECT_EQ(before, snapshot(NetNs::current(), "bond0") + snapshot(NetNs::current(), "p0"));
        in_guest("ip link del bond0; ip link del p0; ip link del p1");
    }
}

TEST(Attach, says_what_it_would_change) {
    in_guest("ip link add bond0 type bond mode 802.3ad");
    const auto before = snapshot(NetNs::current(), "bond0");
    const auto plan = daemon({"-t", "bond0", "--attach", "--dry-run"});
    EXPECT_EQ(0, plan.status) << plan.err;
    EXPECT_THAT(plan.out, AllOf(HasSubstr(R"("what": "xmit_hash_policy")"), HasSubstr(R"("from": "layer2")"),
                                HasSubstr(R"("to": "encap3+4")"), HasSubstr("BPF program")));
    EXPECT_EQ(before, snapshot(NetNs::current(), "bond0"));
    in_guest("ip link del bond0");
    EXPECT_EQ(1, daemon({"-t", "bond0", "--attach", "--dry-run"}).status);
    EXPECT_THAT(daemon({"-t", "lo", "--attach"}).err, HasSubstr("lo is not a bond"));
}

} // namespace
} // namespace teamo::test
