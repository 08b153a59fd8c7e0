// SPDX-License-Identifier: LGPL-2.1-or-later
//
// After a change of the active port the team announces itself to switches and neighbours at once.
#include "netns/configs.h"
#include "support/daemon/team_under_test.h"
#include "support/net/far_ends.h"
#include "support/net/socket_address.h"
#include "support/traffic/frames.h"
#include "support/traffic/packet_socket.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

constexpr std::uint8_t igmp = 2, mld1_report = 131, mld2_report = 143;
constexpr std::string_view group_v4 = "239.1.2.3", group_v6 = "ff15::77";

bool has_address(const Seen& seen, int family, std::string_view address) {
    std::array<char, 16> bytes{};
    ::inet_pton(family, std::string(address).c_str(), bytes.data());
    return from_offset(seen.frame, 14).find(std::string_view(bytes.data(), family == AF_INET ? 4 : 16)) !=
           std::string_view::npos;
}

bool is_igmp_report(const Seen& seen) {
    return !seen.outgoing && ipv4_protocol_of(seen.frame) == igmp && has_address(seen, AF_INET, group_v4);
}

bool is_mld_report(const Seen& seen) {
    const auto type = icmp6_type_of(seen.frame);
    return !seen.outgoing && (type == mld1_report || type == mld2_report) &&
           has_address(seen, AF_INET6, group_v6);
}

/// Sockets that have joined both groups. The kernel reports a join by itself, at once and again later, and
/// when duplicate address detection ends (net/ipv6/mcast.c: ipv6_mc_dad_complete; so it is off here). These
/// reports must not be taken for announcements.
class Membership {
public:
    /// Brings the team up, and returns when the kernel has sent its reports.
    Membership(const Cabling& wires, const TeamUnderTest& team)
        : v4_(socket_in(wires.host(), AF_INET, SOCK_DGRAM)),
          v6_(socket_in(wires.host(), AF_INET6, SOCK_DGRAM)) {
        must(wires.host(), "cd /proc/sys/net;"
                           "echo 3600000 > ipv4/conf/team0/igmpv3_unsolicited_report_interval;"
                           "echo 3600000 > ipv6/conf/team0/mldv2_unsolicited_report_interval;"
                           "echo 0 | tee ipv6/conf/all/accept_dad > ipv6/conf/team0/accept_dad");
        bring_up(wires, team);
        const FarEnds for_v4(wires), for_v6(wires);
        join(look(wires.host(), "team0").index);
        for_v4.drain(1, is_igmp_report);
        for_v6.drain(1, is_mld_report);
    }

private:
    void join(unsigned index) const {
        ip_mreqn v4{};
        v4.imr_multiaddr.s_addr = inet_addr(group_v4.data());
        v4.imr_ifindex = static_cast<int>(index);
        ipv6_mreq v6{};
        ::inet_pton(AF_INET6, group_v6.data(), &v6.ipv6mr_multiaddr);
        v6.ipv6mr_interface = index;
        if (::setsockopt(v4_.get(), IPPROTO_IP, IP_ADD_MEMBERSHIP, &v4, sizeof v4) < 0 ||
            ::setsockopt(v6_.get(), IPPROTO_IPV6, IPV6_JOIN_GROUP, &v6, sizeof v6) < 0)
            throw SetupError("cannot join a group");
    }

    UniqueFd v4_, v6_;
};

/// The packets that the new port sends after one change of the active port.
struct Announced {
    bool arp = false, advertisement = false, igmp_report = false, mld_report = false;
    bool all() const { return arp && advertisement && igmp_report && mld_report; }

    void note(const Seen& seen) {
        if (seen.outgoing) return;
        arp = arp || gratuitous_arp_for(seen.frame) == team_v4;
        advertisement = advertisement || unsolicited_advertisement_for(seen.frame) == team_v6;
        igmp_report = igmp_report || is_igmp_report(seen);
        mld_report = mld_report || is_mld_report(seen);
    }
};

Announced listen(const PacketSocket& far) {
    Announced announced;
    for (const auto start = SteadyClock::now(); !announced.all() && since(start) < patient(long_enough);)
        if (const auto seen = far.receive(10ms)) announced.note(*seen);
    return announced;
}

void expect_announced(const Announced& announced) {
    EXPECT_TRUE(announced.arp) << "gratuitous ARP for " << team_v4;
    EXPECT_TRUE(announced.advertisement) << "neighbour advertisement for " << team_v6;
    EXPECT_TRUE(announced.igmp_report) << "IGMP report";
    EXPECT_TRUE(announced.mld_report) << "MLD report";
}

TEST(Announcement, after_a_change_by_hand) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(ranked_activebackup(2));
    const Membership groups(wires, team);
    ASSERT_TRUE(team.await_item("runner.active_port", "eth1"));
    const PacketSocket far(wires.peer(), "p2");
    team.set_item("runner.active_port", "eth2");
    expect_announced(listen(far));
}

TEST(Announcement, after_a_pulled_cable) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(ranked_activebackup(2));
    const Membership groups(wires, team);
    ASSERT_TRUE(team.await_item("runner.active_port", "eth1"));
    const PacketSocket far(wires.peer(), "p2");
    wires.pull(1);
    expect_announced(listen(far));
}

TEST(Announcement, after_all_ports_were_lost) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(ranked_activebackup(2));
    bring_up(wires, team);
    for (const unsigned number : {1U, 2U}) {
        wires.pull(number);
        ASSERT_TRUE(team.await_link(Cabling::port(number), false));
    }
    const PacketSocket far(wires.peer(), "p2", ether_arp);
    wires.plug(2);
    EXPECT_TRUE(far.await([](const Seen& seen) { return gratuitous_arp_for(seen.frame) == team_v4; }));
}

TEST(Announcement, after_loadbalance_loses_a_port) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(team_config(by_flow, ports_object(2),
                                         R"("notify_peers": {"count": 1}, "mcast_rejoin": {"count": 1}, )"));
    const Membership groups(wires, team);
    ASSERT_TRUE(team.await_link("eth2"));
    const PacketSocket far(wires.peer(), "p2");
    wires.pull(1);
    expect_announced(listen(far));
}

TEST(Announcement, of_a_port_that_was_lost_without_a_daemon) {
    const Cabling wires(2, FarSide::open);
    TeamUnderTest team(team_config(by_flow, ports_object(2),
                                   R"("notify_peers": {"count": 1}, "mcast_rejoin": {"count": 1}, )"));
    const Membership groups(wires, team);
    ASSERT_TRUE(team.await_link("eth2"));
    team.kill();
    wires.pull(1);
    const PacketSocket far(wires.peer(), "p2");
    team.start();
    expect_announced(listen(far));
}

TEST(Announcement, repeats_as_configured) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(team_config(activebackup, R"({"eth1": {"prio": 10}, "eth2": {}})",
                                         R"("notify_peers": {"count": 3, "interval": 100}, )"));
    bring_up(wires, team);
    ASSERT_TRUE(team.await_item("runner.active_port", "eth1"));
    const PacketSocket far(wires.peer(), "p2", ether_arp);
    team.set_item("runner.active_port", "eth2");
    std::vector<std::chrono::nanoseconds> times;
    for (const auto& seen : far.drain(3, 500ms))
        if (gratuitous_arp_for(seen.frame) == team_v4) times.push_back(seen.arrival);
    // Bonding announces once by itself.
    ASSERT_EQ(by_bonding(wires) ? 4U : 3U, times.size());
    // An interval starts when an announcement is sent; it arrives a little later.
    EXPECT_GE(times.back() - times.front(), 150ms);
}

} // namespace
} // namespace teamo::test
