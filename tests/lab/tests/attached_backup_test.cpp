// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A bond in active-backup that another program made: what the daemon and its programs do when the active
// slave has lost its link, before bonding has noticed it (docs/adr/0038).
//
// lab: AttachedBackup.* in -k newest -p 2, 40 s
// lab: AttachedBackup.* in -k 6.1 -p 2, 30 s
#include "lab/bonds.h"
#include "lab/guest.h"
#include "support/daemon/team_under_test.h"
#include "support/net/links.h"
#include "support/traffic/flows.h"
#include "support/traffic/traffic.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <csignal>
#include <memory>
#include <vector>

namespace teamo::test {
namespace {

using testing::HasSubstr;

/// Bonding would notice the lost link within a minute.
TEST(AttachedBackup, becomes_active_as_soon_as_the_active_slave_has_lost_its_link) {
    const BackedUp bonded(60'000);
    TeamUnderTest team(attach, {}, "bond0");
    ASSERT_TRUE(team.await_item("attached.steered", "true"));
    Stream stream(bonded.out());
    ASSERT_TRUE(stream.flows(2000));
    const auto former = BackedUp::active();
    const auto chosen =
        team.teamdctl({"state", "item", "set", "runner.active_port", BackedUp::other(former)});
    EXPECT_EQ(0, chosen.status) << chosen.err;
    const auto port = BackedUp::active(), other = BackedUp::other(port);
    EXPECT_EQ(former, other);
    const auto first = stream.next(), before = BackedUp::dropped(port);
    EXPECT_EQ(port, team.item("runner.active_port"));
    bonded.plug(port, "down");
    EXPECT_TRUE(becomes(other, BackedUp::active));
    EXPECT_TRUE(stream.flows(2000));
    EXPECT_TRUE(team.await_item(fmt::format("ports.{}.datapath.transmits", other), "true"));
    EXPECT_TRUE(team.await_item(fmt::format("ports.{}.datapath.transmits", port), "false"));
    stream.stop();
    const auto tally = stream.tally(first, stream.next());
    fmt::print("{}\n", text_of(tally));
    EXPECT_GE(BackedUp::dropped(port) - before + 1, tally.lost);
    EXPECT_EQ(0, team.stop());
}

/// Sends packets of that protocol to the far end.
void send_raw(int protocol, unsigned packets) {
    const UniqueFd raw(::socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, protocol));
    sockaddr_in to{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {}, .sin_zero = {}};
    ::inet_pton(AF_INET, far_address, &to.sin_addr);
    // As UDP: ports 4500, 40 bytes, no checksum.
    const std::array<std::uint8_t, 40> packet{0x11, 0x94, 0x11, 0x94, 0, 40};
    for (unsigned number = 0; number < packets; ++number)
        static_cast<void>(::sendto(raw.get(), packet.data(), packet.size(), 0,
                                   reinterpret_cast<const sockaddr*>(&to), sizeof to));
}

/// What the programs do without the daemon, until bonding notices.
TEST(AttachedBackup, carries_before_bonding_has_noticed) {
    // Bonding itself delivers what a backup receives with the second option: nothing must come twice.
    for (const auto* options : {"", "all_slaves_active 1"}) {
        const BackedUp bonded(60'000, options);
        const auto before = bonded.settings();
        TeamUnderTest team(attach, {}, "bond0");
        ASSERT_TRUE(team.await_item("attached.steered", "true"));
        for (const int signal : {SIGSTOP, SIGKILL}) {
            team.signal(signal);
            // Without a daemon bonding may have changed the active slave. Before tcx that one cannot hand in.
            if (signal == SIGKILL && is_at_least(6, 6))
                in_guest("ip link set bond0 type bond active_slave " + BackedUp::other(BackedUp::active()));
            const auto port = BackedUp::active(), other = BackedUp::other(port);
            Stream out(bonded.out()), in(bonded.in());
            ASSERT_TRUE(out.flows(1000) && in.flows(1000));
            const auto first = out.next(), dropped = BackedUp::dropped(port);
            bonded.plug(port, "down");
            EXPECT_TRUE(out.flows(1000));
            EXPECT_TRUE(in.flows(1000));
            out.stop();
            in.stop();
            const auto sent = out.tally(first, out.next()), received = in.tally();
            fmt::print("'{}', signal {}: out {}; in {}\n", options, signal, text_of(sent), text_of(received));
            EXPECT_GE(BackedUp::dropped(port) - dropped + 1, sent.lost);
            EXPECT_EQ(0U, received.duplicated);
            EXPECT_EQ(port, BackedUp::active());
            // A card that encrypts does not ask whose association it is.
            const auto by_backup = BackedUp::sent(other);
            for (const int protocol : {IPPROTO_ESP, IPPROTO_UDP})
                send_raw(protocol, 100);
            EXPECT_GT(50U, BackedUp::sent(other) - by_backup);
            EXPECT_TRUE(carries_tcp(bonded.here(), bonded.far(), far_in_vlan, 2'000'000));
            bonded.plug(port, "up");
            await_operation(NetNs::current(), port);
            if (signal == SIGSTOP) team.signal(SIGCONT);
            ASSERT_TRUE(reaches(NetNs::current(), far_address));
        }
        team.kill();
        team.start();
        ASSERT_TRUE(team.await_item("attached.steered", "true"));
        EXPECT_EQ(0, team.stop());
        if (is_at_least(6, 6)) {
            in_guest("ip link set bond0 type bond active_slave p0"); // as at first
            EXPECT_EQ("", difference(before, bonded.settings()));
        }
    }
}

/// What others drop stays dropped, and a device that was a slave is none.
TEST(AttachedBackup, goes_around_nothing_of_others) {
    const BackedUp bonded(60'000);
    TeamUnderTest team(attach, {}, "bond0");
    ASSERT_TRUE(team.await_item("attached.steered", "true"));
    in_guest("tc qdisc replace dev bond0 clsact; tc filter add dev bond0 egress protocol ip prio 10 u32 "
             "match ip protocol 1 0xff action drop");
    EXPECT_TRUE(eventually("the program is behind the filter", [] {
        return in_guest("tc filter show dev bond0 egress").find("teamo_send_by_b") != std::string::npos;
    }));
    const auto port = BackedUp::active(), other = BackedUp::other(port);
    team.signal(SIGKILL);
    Stream out(bonded.out());
    bonded.plug(port, "down");
    EXPECT_TRUE(out.flows(1000));
    out.stop();
    auto before = BackedUp::sent(other);
    send_raw(IPPROTO_ICMP, 100);
    EXPECT_GT(50U, BackedUp::sent(other) - before);
    in_guest(fmt::format("ip link set {0} nomaster; ip link set {0} up", other));
    before = BackedUp::sent(other);
    send_raw(IPPROTO_UDP + 100, 100); // of no known protocol
    EXPECT_GT(50U, BackedUp::sent(other) - before);
    team.kill();
}

/// With queue_id or all_slaves_active bonding would send some of these packets by the backup.
TEST(AttachedBackup, sends_nothing_while_the_active_slave_has_a_link) {
    const BackedUp bonded(100);
    const auto vm = NetNs::create(), far = NetNs::create();
    in_guest(fmt::format("ip link add v0 numtxqueues 4 numrxqueues 4 type veth peer name eth0 numtxqueues 4 "
                         "numrxqueues 4 netns {}; ip link set v0 master br0 up",
                         vm.path()));
    vm.ip("addr add 10.5.0.9/24 dev eth0\nlink set eth0 up");
    TeamUnderTest team(attach, {}, "bond0");
    ASSERT_TRUE(team.await_item("attached.steered", "true"));
    const auto other = BackedUp::other(BackedUp::active());
    ASSERT_TRUE(reaches(vm, far_address));
    const auto before = BackedUp::sent(other);
    auto way = bonded.out();
    way.from = &vm;
    std::vector<std::unique_ptr<Stream>> streams;
    for (way.port = 5003; way.port < 5011; ++way.port)
        streams.push_back(std::make_unique<Stream>(way));
    for (const auto& stream : streams)
        EXPECT_TRUE(stream->flows(1000));
    streams.clear();
    EXPECT_EQ(before, BackedUp::sent(other));
    EXPECT_EQ(0, team.stop());
}

TEST(AttachedBackup, is_made_active_by_the_configured_runner) {
    const BackedUp bonded(100);
    const auto first = BackedUp::active(), second = BackedUp::other(first);
    TeamUnderTest team(
        fmt::format(R"({{"device": "bond0", "attach": true, "runner": {{"name": "activebackup"}},
                                       "ports": {{"{}": {{"prio": 9}}, "{}": {{"prio": 1}}}}}})",
                    second, first),
        {}, "bond0");
    EXPECT_TRUE(becomes(second, BackedUp::active));
    EXPECT_TRUE(team.await_item("runner.active_port", second));
    // By hand, until a slave changes.
    in_guest("ip link set bond0 type bond active_slave " + first);
    EXPECT_TRUE(team.await_item("runner.active_port", first));
    std::this_thread::sleep_for(1s);
    EXPECT_EQ(first, BackedUp::active());
    bonded.plug(first, "down");
    EXPECT_TRUE(becomes(second, BackedUp::active));
    bonded.plug(first, "up");
    ASSERT_TRUE(team.await_link(first)); // bonding looks each 100 ms
    const auto chosen = team.teamdctl({"state", "item", "set", "runner.active_port", first});
    EXPECT_EQ(0, chosen.status) << chosen.err;
    EXPECT_TRUE(becomes(first, BackedUp::active));
    const auto drained = team.teamoctl({"port", "drain", first});
    EXPECT_EQ(0, drained.status) << drained.err;
    EXPECT_EQ(second, BackedUp::active());
    EXPECT_EQ(0, team.stop());
}

TEST(AttachedBackup, is_not_drained_where_bonding_chooses) {
    const BackedUp bonded(100);
    const auto active = BackedUp::active();
    TeamUnderTest team(attach, {}, "bond0");
    const auto refused = team.teamoctl({"port", "drain", active});
    EXPECT_EQ(1, refused.status);
    EXPECT_THAT(refused.err,
                HasSubstr("bonding chooses the active slave; make another one active: ip link set "
                          "bond0 type bond active_slave SLAVE"));
    EXPECT_EQ(0, team.teamoctl({"port", "drain", BackedUp::other(active)}).status) << "it carries nothing";
    EXPECT_EQ(0, team.stop());
}

} // namespace
} // namespace teamo::test
