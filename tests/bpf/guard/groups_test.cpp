// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which multicasts the guard limits, and which it does not.
#include "guard_fixture.h"

namespace teamo::test {
namespace {

Bytes to_group6(const char* address, std::uint32_t scope, std::uint32_t end) {
    return PacketBuilder(mac(address), neighbour).ipv6({.to = {scope << 16, 0, 0, end}}).udp(1, 2).bytes();
}

TEST_F(Guard, does_not_limit_groups_that_have_a_listener) {
    const auto stream = mac("01:00:5e:01:02:03"), all_hosts = mac("01:00:5e:00:00:01");
    tables.macs.insert(stream);
    tables.macs.insert(all_hosts);
    tables.rate = tables.rate_by_sender = 1;
    for (int times = 0; times < 20; ++times) {
        EXPECT_TRUE(passes(to(stream)));
        passes(to(all_hosts));
        passes(to(mac("01:00:5e:01:02:04")));
    }
    EXPECT_FALSE(passes(to(all_hosts))) << "a group of a protocol";
    EXPECT_FALSE(passes(to(mac("01:00:5e:01:02:04")))) << "nobody listens";
}

TEST_F(Guard, does_not_limit_ipv6_groups_that_have_a_listener) {
    tables.rate_by_sender = 1;
    const auto *stream = "33:33:12:34:56:78", *all_hosts = "33:33:00:00:00:01", *asked = "33:33:ff:00:00:01";
    for (const auto* address : {stream, all_hosts, asked})
        tables.macs.insert(mac(address));
    EXPECT_EQ(20U, passing(20, to_group6(stream, 0xff0e, 0x12345678)));
    EXPECT_LE(passing(20, to_group6(stream, 0xff02, 0x12345678)), 5U);
    EXPECT_LE(passing(20, to_group6(all_hosts, 0xff0e, 1)), 5U) << "each host has joined its MAC address";
    EXPECT_LE(passing(20, to_group6(asked, 0xff0e, 0xff000001)), 5U);
}

Bytes to_group(const char* address, std::uint32_t group, std::uint16_t vlan = 0) {
    PacketBuilder packet(mac(address), neighbour);
    if (vlan != 0) packet.vlan(vlan);
    return packet.ipv4({.to = group}).udp(1, 2).bytes();
}

TEST_F(Guard, knows_a_protocol_group_by_its_address) {
    tables.rate_by_sender = 1;
    const auto *stream = "01:00:5e:00:00:0a", *stream6 = "33:33:00:00:12:34";
    for (const auto* address : {stream, stream6, "01:00:5e:00:00:01", "33:33:00:00:00:02"})
        tables.macs.insert(mac(address));
    EXPECT_EQ(20U, passing(20, to_group(stream, 0xef00000a))) << "239.0.0.10";
    EXPECT_EQ(20U, passing(20, to_group(stream, 0xe880000a))) << "232.128.0.10";
    EXPECT_EQ(20U, passing(20, to_group6(stream6, 0xff15, 0x1234)));
    EXPECT_LE(passing(20, to_group(stream, 0xe000000a)), 5U) << "224.0.0.10";
    EXPECT_LE(passing(20, to_group6(stream6, 0xff02, 0x1234)), 5U);
    EXPECT_LE(passing(20, to_group("01:00:5e:00:00:01", 0xef000001)), 5U) << "each host has joined its MAC";
    EXPECT_LE(passing(20, to_group6("33:33:00:00:00:02", 0xff05, 2)), 5U);
}

TEST_F(Guard, hears_a_router_that_forwards_what_nobody_wants) {
    const auto ospf = to_group("01:00:5e:00:00:05", 0xe0000005);
    const auto ospf6 = PacketBuilder(mac("33:33:00:00:00:05"), neighbour)
                           .ipv6({.to = {0xff020000, 0, 0, 5}})
                           .other(89)
                           .bytes();
    for (const auto* address : {"01:00:5e:00:00:05", "33:33:00:00:00:05", "01:00:5e:00:00:01"})
        tables.macs.insert(mac(address));
    const auto expect_heard = [&] {
        for (const auto vlan : {std::uint16_t{0}, std::uint16_t{7}}) { // 7 has no device here
            passing(40, to_group("01:00:5e:01:02:03", 0xef010203, vlan));
            passing(40, to_group("01:00:5e:00:00:01", 0xef000001, vlan));
            EXPECT_TRUE(passes(to_group("01:00:5e:00:00:05", 0xe0000005, vlan))) << vlan;
        }
        passing(40, to_group("01:00:5e:00:00:05", 0xe0000005, 7)); // takes nothing from ours
        EXPECT_TRUE(passes(ospf6));
        EXPECT_LE(passing(40, ospf), 10U) << "a storm";
    };
    tables.rate_by_sender = 10;
    expect_heard();
    tables.rate_by_sender = 0;
    tables.rate = 10;
    expect_heard();
}

} // namespace
} // namespace teamo::test
