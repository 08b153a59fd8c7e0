// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A team without an IP address cannot announce itself with ARP: switches learn its port from a RARP frame.
//
// lab: Announcement.uses_rarp_* Announcement.names_macvlans_* by team, 6 s
#include "netns/configs.h"
#include "support/traffic/frames.h"
#include "support/traffic/packet_socket.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

constexpr std::uint16_t ether_rarp = 0x8035;

TEST(Announcement, uses_rarp_without_an_address) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(ranked_activebackup(2));
    for (const auto* port : {"eth1", "eth2"})
        ASSERT_TRUE(
            becomes("true", [&] { return team.item(fmt::format("ports.{}.link_watches.up", port)); }));
    must(wires.host(), "echo 1 > /proc/sys/net/ipv6/conf/team0/disable_ipv6; ip link set team0 up");
    await_operation(wires.host(), "team0");
    ASSERT_TRUE(becomes("eth1", [&] { return team.item("runner.active_port"); }));
    const auto own = mac(look(wires.host(), "team0").address);
    const PacketSocket far(wires.peer(), "p2", ether_rarp);
    team.set_item("runner.active_port", "eth2");
    const auto seen = far.await([](const Seen& frame) { return !frame.outgoing; });
    ASSERT_TRUE(seen);
    EXPECT_EQ(own, source_of(seen->frame));
    EXPECT_EQ(mac("ff:ff:ff:ff:ff:ff"), destination_of(seen->frame));
    // The target hardware address follows the sender's pair of addresses (RFC 903).
    constexpr std::size_t operation = 20, target = 32;
    EXPECT_EQ(std::string_view("\0\3", 2), from_offset(seen->frame, operation).substr(0, 2));
    const std::string_view bytes(reinterpret_cast<const char*>(own.bytes.data()), own.bytes.size());
    EXPECT_EQ(bytes, from_offset(seen->frame, target).substr(0, bytes.size()));
}

TEST(Announcement, names_macvlans_in_other_namespaces) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(ranked_activebackup(2));
    for (const auto* port : {"eth1", "eth2"})
        ASSERT_TRUE(team.await_link(port));
    const NetNs container = NetNs::create();
    const auto address = mac("02:00:00:00:00:0c");
    must(wires.host(), "ip link set team0 up; ip link add link team0 name mv0 address 02:00:00:00:00:0c type "
                       "macvlan mode bridge; ip link set mv0 netns " +
                           container.path());
    must(container, "ip link set mv0 up");
    ASSERT_TRUE(becomes("eth1", [&] { return team.item("runner.active_port"); }));
    const PacketSocket far(wires.peer(), "p2", ether_rarp);
    team.set_item("runner.active_port", "eth2");
    EXPECT_TRUE(far.await([&](const Seen& frame) {
        return !frame.outgoing && source_of(frame.frame) == address;
    })) << "its address is known to nobody here but the list of team0";
}

} // namespace
} // namespace teamo::test
