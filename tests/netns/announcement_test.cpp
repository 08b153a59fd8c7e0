// SPDX-License-Identifier: LGPL-2.1-or-later
//
// After the active port changed, switches and neighbours are told the new way at once.
#include "netns/configs.h"
#include "support/frames.h"
#include "support/packet_socket.h"
#include "support/socket_address.h"
#include "support/team_under_test.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

/// Sockets that have joined 239.1.2.3 and ff15::77 on the device, of which the kernel tells
/// once and again within the hour: within seconds it could be taken for an announcement.
class Membership {
public:
    Membership(const NetNs& in, std::string_view device)
        : v4_(socket_in(in, AF_INET, SOCK_DGRAM)), v6_(socket_in(in, AF_INET6, SOCK_DGRAM)) {
        must(in, fmt::format(
                     "cd /proc/sys/net; echo 3600000 | tee ipv4/conf/{0}/igmpv3_unsolicited_report_interval "
                     "> ipv6/conf/{0}/mldv2_unsolicited_report_interval",
                     device));
        const auto index = look(in, device).index;
        ip_mreqn v4{};
        v4.imr_multiaddr.s_addr = inet_addr("239.1.2.3");
        v4.imr_ifindex = static_cast<int>(index);
        ipv6_mreq v6{};
        ::inet_pton(AF_INET6, "ff15::77", &v6.ipv6mr_multiaddr);
        v6.ipv6mr_interface = index;
        if (::setsockopt(v4_.get(), IPPROTO_IP, IP_ADD_MEMBERSHIP, &v4, sizeof v4) < 0 ||
            ::setsockopt(v6_.get(), IPPROTO_IPV6, IPV6_JOIN_GROUP, &v6, sizeof v6) < 0)
            throw SetupError("cannot join a group");
    }

private:
    UniqueFd v4_, v6_;
};

constexpr std::uint8_t igmp = 2, mld1_report = 131, mld2_report = 143;

/// What one switch of the active port made the new port send.
struct Told {
    bool arp = false, advertisement = false, igmp_report = false, mld_report = false;
    bool all() const { return arp && advertisement && igmp_report && mld_report; }

    void note(const Seen& seen) {
        if (seen.outgoing) return;
        arp = arp || gratuitous_arp_for(seen.frame) == team_v4;
        advertisement = advertisement || unsolicited_advertisement_for(seen.frame) == team_v6;
        igmp_report = igmp_report || ipv4_protocol_of(seen.frame) == igmp;
        const auto type = icmp6_type_of(seen.frame);
        mld_report = mld_report || type == mld1_report || type == mld2_report;
    }
};

Told listen(const PacketSocket& far) {
    Told told;
    for (const auto start = SteadyClock::now(); !told.all() && since(start) < patient(long_enough);)
        if (const auto seen = far.receive(10ms)) told.note(*seen);
    return told;
}

void expect_told(const Told& told) {
    EXPECT_TRUE(told.arp) << "gratuitous ARP for " << team_v4;
    EXPECT_TRUE(told.advertisement) << "neighbour advertisement for " << team_v6;
    EXPECT_TRUE(told.igmp_report) << "IGMP report";
    EXPECT_TRUE(told.mld_report) << "MLD report";
}

TEST(Announcement, follows_a_switch_of_the_active_port_by_hand) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(ranked_activebackup(2));
    bring_up(wires, team);
    const Membership groups(wires.host(), "team0");
    ASSERT_TRUE(becomes("eth1", [&] { return team.item("runner.active_port"); }));
    const PacketSocket far(wires.peer(), "p2");
    team.set_item("runner.active_port", "eth2");
    expect_told(listen(far));
}

TEST(Announcement, follows_a_pulled_cable) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(ranked_activebackup(2));
    bring_up(wires, team);
    const Membership groups(wires.host(), "team0");
    ASSERT_TRUE(becomes("eth1", [&] { return team.item("runner.active_port"); }));
    const PacketSocket far(wires.peer(), "p2");
    wires.pull(1);
    expect_told(listen(far));
}

TEST(Announcement, follows_a_port_lost_by_loadbalance) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(team_config(by_flow, ports_object(2),
                                         R"("notify_peers": {"count": 1}, "mcast_rejoin": {"count": 1}, )"));
    bring_up(wires, team);
    const Membership groups(wires.host(), "team0");
    ASSERT_TRUE(becomes("true", [&] { return team.item("ports.eth2.link_watches.up"); }));
    const PacketSocket far(wires.peer(), "p2");
    wires.pull(1);
    expect_told(listen(far));
}

TEST(Announcement, is_repeated_as_often_and_as_far_apart_as_configured) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(team_config(activebackup, R"({"eth1": {"prio": 10}, "eth2": {}})",
                                         R"("notify_peers": {"count": 3, "interval": 100}, )"));
    bring_up(wires, team);
    ASSERT_TRUE(becomes("eth1", [&] { return team.item("runner.active_port"); }));
    const PacketSocket far(wires.peer(), "p2", ether_arp);
    team.set_item("runner.active_port", "eth2");
    std::vector<std::chrono::nanoseconds> times;
    for (const auto& seen : far.drain(3, 500ms))
        if (gratuitous_arp_for(seen.frame) == team_v4) times.push_back(seen.arrival);
    ASSERT_EQ(3U, times.size());
    // Each interval begins when an announcement was sent; it arrives a moment later.
    EXPECT_GE(times[2] - times[0], 150ms);
}

} // namespace
} // namespace teamo::test
