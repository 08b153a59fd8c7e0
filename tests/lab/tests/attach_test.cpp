// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A bond that another program made, with a VLAN and a bridge on top: the daemon attaches to it, steers it in
// its own mode, and leaves it as it was (docs/adr/0038). The partner is the kernel's bonding in a namespace.
//
// lab: Attach.* *AttachedBond.* in -k newest -p 3, 100 s
// lab: *AttachedBond.*/lacp *AttachedBond.is_steered_*/xor in -k 6.1 -p 2, 40 s
// lab: *AttachedBond.* in -k 6.1 -p 2, 50 s, long
#include "lab/bonds.h"
#include "lab/guest.h"
#include "netns/traffic/foreign_programs.h"
#include "support/daemon/process.h"
#include "support/daemon/team_under_test.h"
#include "support/net/links.h"
#include "support/traffic/flows.h"
#include "support/traffic/frames.h"
#include "support/traffic/traffic.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>

namespace teamo::test {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

constexpr unsigned slaves = Bonded::slaves;

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
    const BulkFlows bulk({.from = &bonded.here(),
                          .to = &bonded.far(),
                          .address = far_address,
                          .rates = std::vector(16, 20e3)});
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
        const auto out_of_order = [&bonded] { return tcp_counters(bonded.far()).at("TCPOFOQueue"); };
        const auto before_moves = out_of_order();
        for (unsigned number = 0; number < slaves; ++number) {
            const auto port = fmt::format("p{}", number);
            const auto moved = team.teamoctl({"balance", "move", bucket, port, "now"});
            ASSERT_EQ(0, moved.status) << moved.err;
            ASSERT_TRUE(stream.flows(1000));
            EXPECT_EQ(port, bonded.busiest());
            EXPECT_LT(1000 * 64, std::stoll(team.item(
                                     fmt::format("ports.{}.datapath.counters.tx_steered_bytes", port))));
        }
        const auto end = stream.next();
        ASSERT_TRUE(stream.flows(1000));
        const auto tally = stream.tally(first, end);
        EXPECT_EQ(0U, tally.lost) << text_of(tally);
        EXPECT_EQ(0U, tally.reordered);
        if (has_tcx) { // else TCP still repeats what clsact lost
            EXPECT_EQ(before_moves, out_of_order());
        }
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

/// LACP is bonding's, so the partner cannot be told; it sends nothing here.
TEST_P(AttachedBond, drains_a_slave) {
    const Bonded bonded(GetParam());
    Stream stream(bonded.way(2000));
    TeamUnderTest team(attach, {}, "bond0");
    ASSERT_TRUE(is_steered(team));
    for (unsigned number = 0; number < slaves; ++number)
        ASSERT_TRUE(team.await_item(fmt::format("ports.p{}.datapath.transmits", number), "true"));
    const auto first = stream.next();
    ASSERT_TRUE(stream.flows(1000));
    const auto port = bonded.busiest();
    const auto drained = team.teamoctl({"port", "drain", port}, {"-t", "120"});
    EXPECT_EQ(0, drained.status) << drained.err;
    EXPECT_NE(port, bonded.busiest());
    EXPECT_EQ("0", team.item(fmt::format("ports.{}.datapath.buckets", port)));
    EXPECT_EQ(0, team.teamoctl({"port", "undrain", port}).status);
    EXPECT_TRUE(team.await_item(fmt::format("ports.{}.datapath.transmits", port), "true"));
    ASSERT_TRUE(stream.flows(1000));
    stream.stop();
    const auto tally = stream.tally(first, stream.next());
    EXPECT_EQ(0U, tally.lost) << text_of(tally);
    EXPECT_EQ(0, team.stop());
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
        ASSERT_TRUE(stream.flows(1000));
        const auto end = stream.next();
        ASSERT_TRUE(stream.flows(1000));
        const auto tally = stream.tally(first, end);
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
    if (GetParam() == std::string("802.3ad")) {
        // LACP is the kernel's, and its partners time out after three seconds (lacp_rate fast).
        std::this_thread::sleep_for(std::getenv("TEAMO_LONG") == nullptr ? 4s : 600s);
        EXPECT_EQ(slaves, bonded.collecting());
    }
    team.kill();
    team.start();
    ASSERT_TRUE(is_steered(team));
    EXPECT_EQ("layer2+3", team.item("attached.own_xmit_hash_policy"));
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ("layer2+3", policy());
}

INSTANTIATE_TEST_SUITE_P(In, AttachedBond, testing::Values("802.3ad", "balance-xor"),
                         [](const auto& mode) { return mode.param[0] == '8' ? "lacp" : "xor"; });

TEST(Attach, watches_a_bond_that_it_cannot_steer) {
    for (const auto& [mode, options, by] : {std::tuple{"balance-rr", "", "mode"},
                                            {"active-backup", "fail_over_mac active", "addresses"},
                                            {"active-backup", "downdelay 200", "delay"},
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
            EXPECT_THAT(team.teamoctl({"doctor"}).out, AnyOf(HasSubstr("bonding chooses the slaves"),
                                                             HasSubstr("until bonding has noticed it")));
            EXPECT_EQ(before, snapshot(NetNs::current(), "bond0") + snapshot(NetNs::current(), "p0"));
            EXPECT_EQ(0, team.stop());
        }
        EXPECT_EQ(before, snapshot(NetNs::current(), "bond0") + snapshot(NetNs::current(), "p0"));
        in_guest("ip link del bond0; ip link del p0; ip link del p1");
    }
}

/// As the network card of a virtual machine, in the bridge on the bond.
class GuestOnTap {
public:
    GuestOnTap() {
        in_guest("modprobe tun");
        tap_.reset(::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
        ifreq request{};
        request.ifr_flags = IFF_TAP | IFF_NO_PI;
        std::strcpy(request.ifr_name, "tap0");
        if (!tap_ || ::ioctl(tap_.get(), TUNSETIFF, &request) < 0) throw SetupError("no tap device");
        in_guest("ip link set tap0 master br0 up");
        await_operation(NetNs::current(), "tap0");
    }
    /// Whether the far end answers within a second.
    bool is_answered() const {
        const auto frame = arp_request(mac("02:00:00:00:0c:0c"), "10.5.0.77", far_address);
        if (::write(tap_.get(), frame.data(), frame.size()) < 0) return false;
        return bool{eventually("an answer", [this] { return reads_reply(); }, 1s)};
    }

private:
    bool reads_reply() const {
        std::array<unsigned char, 2048> frame{};
        constexpr std::size_t ethertype = 12, operation = 20;
        for (ssize_t size; (size = ::read(tap_.get(), frame.data(), frame.size())) > 0;)
            if (size > ssize_t{operation} + 1 && frame[ethertype] == 8 && frame[ethertype + 1] == 6 &&
                frame[operation + 1] == 2)
                return true;
        return false;
    }
    UniqueFd tap_;
};

TEST(Attach, carries_for_a_guest_on_a_tap) {
    const Bonded bonded("802.3ad");
    TeamUnderTest team(attach, {}, "bond0");
    ASSERT_TRUE(is_steered(team));
    const GuestOnTap guest;
    ASSERT_TRUE(eventually("an answer", [&] { return guest.is_answered(); }, 5s));
    for (const auto* port : {"f0", "f1", "f2"}) {
        for (int times = 0; times < 10; ++times)
            EXPECT_TRUE(guest.is_answered()) << port;
        bonded.far().ip(fmt::format("link set {} down", port)); // one slave after the other
        EXPECT_TRUE(team.await_item(fmt::format("ports.p{}.datapath.transmits", port[1]), "false"));
    }
    EXPECT_TRUE(guest.is_answered());
    EXPECT_EQ(0, team.stop());
    EXPECT_TRUE(guest.is_answered()) << "without the daemon";
}

/// The kernel refuses to change a policy under XDP only if one of the two is vlan+srcmac.
TEST(Attach, steers_under_native_xdp_on_the_bond) {
    const Bonded bonded("802.3ad");
    const ForeignXdp xdp(NetNs::current(), "bond0", XDP_FLAGS_DRV_MODE);
    TeamUnderTest team(attach, {}, "bond0");
    ASSERT_TRUE(is_steered(team));
    Stream out(bonded.way(1000));
    EXPECT_TRUE(out.flows(500));
    out.stop();
    EXPECT_EQ(0U, out.tally().lost) << text_of(out.tally());
    EXPECT_TRUE(reaches(NetNs::current(), far_address));
    EXPECT_GT(xdp.seen(), 0U);
    EXPECT_THAT(
        team.teamoctl({"offload"}).out,
        HasSubstr(
            "bonding in mode 802.3ad: cards can do RoCE and virtual functions over all ports, native XDP"));
    EXPECT_EQ(0, team.stop());
    EXPECT_TRUE(xdp.attached());
    xdp.detach();
    EXPECT_EQ("layer2+3", policy());
}

TEST(Attach, says_what_it_would_change) {
    in_guest("ip link add bond0 type bond mode 802.3ad; ip link add p0 type veth peer name f0; "
             "ip link set p0 master bond0");
    const auto before = snapshot(NetNs::current(), "bond0");
    const auto plan = daemon({"-t", "bond0", "--attach", "--dry-run"});
    EXPECT_EQ(0, plan.status) << plan.err;
    EXPECT_THAT(plan.out, AllOf(HasSubstr(R"("what": "xmit_hash_policy")"), HasSubstr(R"("from": "layer2")"),
                                HasSubstr(R"("to": "encap3+4")"), HasSubstr("BPF program"),
                                Not(HasSubstr(R"("device": "p0")"))));
    const auto wishes = daemon_on(R"({"device": "bond0", "attach": true, "guard": "arp",
        "interrupts": {"policy": "unique"}, "offload": {"tso": "off"}})",
                                  {"--dry-run"});
    EXPECT_THAT(wishes.out,
                AllOf(HasSubstr(R"("what": "tx-tcp-segmentation")"), HasSubstr(R"("to": "off")"),
                      HasSubstr("program of the guard"), HasSubstr(R"("what": "interrupt CPUs")")))
        << wishes.err;
    EXPECT_EQ(before, snapshot(NetNs::current(), "bond0"));
    {
        const HiddenTypes hidden;
        EXPECT_THAT(daemon({"-t", "bond0", "--attach", "--dry-run"}).out,
                    AllOf(HasSubstr(R"("changes": [])"), HasSubstr(R"("steered": false)"),
                          HasSubstr("the kernel does not tell the types of bonding")));
    }
    in_guest("ip link del bond0; ip link del p0");
    const auto waits = daemon({"-t", "bond0", "--attach", "--dry-run"});
    EXPECT_EQ(0, waits.status) << waits.err;
    EXPECT_THAT(waits.out, HasSubstr("waits for bond bond0"));
    EXPECT_THAT(daemon({"-t", "lo", "--attach", "--dry-run"}).err, HasSubstr("lo is not a bond"));
    EXPECT_THAT(daemon({"-t", "lo", "--attach"}).err, HasSubstr("lo is not a bond"));
}

} // namespace
} // namespace teamo::test
