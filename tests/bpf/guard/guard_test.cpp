// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which frames the guard drops: one frame in, one verdict out.
#include "guard_fixture.h"
#include "support/traffic/frames.h"
#include "support/traffic/packet.h"
#include "watch/probe_frames.h"

#include <gmock/gmock.h>

#include <bpf/bpf.h>

namespace teamo::test {
namespace {

TEST_F(Guard, drops_arp_requests_for_others) {
    for (const auto mode : {GuardMode::arp, GuardMode::full}) {
        tables.mode = mode;
        EXPECT_TRUE(passes(asks_for("10.0.0.1")));
        EXPECT_FALSE(passes(asks_for("10.0.0.9")));
        EXPECT_TRUE(passes(asks_for("10.0.0.2", "10.0.0.2"))) << "gratuitous";
        EXPECT_TRUE(passes(asks_for("10.0.0.9", "0.0.0.0"))) << "a probe for an address that nobody has yet";
    }
    EXPECT_EQ(2U, count(TEAMO_GUARD_BY_ARP));
    tables.mode = GuardMode::off;
    EXPECT_TRUE(passes(asks_for("10.0.0.9")));
}

TEST_F(Guard, follows_addresses) {
    EXPECT_FALSE(passes(asks_for("10.0.0.9")));
    tables.addresses.insert(*parse_ip("10.0.0.9"));
    EXPECT_TRUE(passes(asks_for("10.0.0.9")));
    tables.addresses.erase(*parse_ip("10.0.0.1"));
    EXPECT_FALSE(passes(asks_for("10.0.0.1")));
}

TEST_F(Guard, drops_solicitations_for_others) {
    const auto asks = [](const char* target) {
        return neighbour_probe({.mac = neighbour}, *parse_ip("fd00::2"), *parse_ip(target));
    };
    EXPECT_TRUE(passes(asks("fd00::1")));
    EXPECT_FALSE(passes(asks("fd00::9")));
    EXPECT_EQ(1U, count(TEAMO_GUARD_BY_NEIGHBOUR));
}

TEST_F(Guard, drops_unicast_to_others_if_full) {
    EXPECT_TRUE(passes(to(ours)));
    EXPECT_FALSE(passes(to(mac("02:00:00:00:00:77"))));
    EXPECT_EQ(1U, count(TEAMO_GUARD_BY_UNICAST));
    tables.mode = GuardMode::arp;
    EXPECT_TRUE(passes(to(mac("02:00:00:00:00:77"))));
}

TEST_F(Guard, leaves_control_frames_alone) {
    tables.rate = tables.rate_by_sender = 1;
    for (const auto* group : {"01:80:c2:00:00:00", "01:80:c2:00:00:02", "01:80:c2:00:00:0e",
                              "01:80:c2:00:00:21", "01:00:0c:cc:cc:cc", "01:00:0c:cc:cc:cd"})
        EXPECT_EQ(20U, passing(20, ethernet(mac(group), neighbour, 0x8809, "x"))) << group;
    constexpr std::uint16_t tipc = 0x88ca;
    EXPECT_EQ(20U, passing(20, ethernet(all, neighbour, tipc, "data")));
}

TEST_F(Guard, passes_dhcp_and_vrrp_whatever_the_rate) {
    tables.rate = tables.rate_by_sender = 1;
    const auto vrrp = mac("01:00:5e:00:00:12"), vrrp6 = mac("33:33:00:00:00:12");
    for (const auto& frame :
         {udp_to_all(67, 68), udp_to_all(68, 67),
          PacketBuilder(all, neighbour).vlan(7).ipv4({}).udp(67, 68).bytes(),
          PacketBuilder(mac("33:33:00:01:00:02"), neighbour).ipv6({}).udp(546, 547).bytes(),
          PacketBuilder(vrrp, neighbour).ipv4({}).other(112).bytes(),
          PacketBuilder(vrrp6, neighbour).ipv6({}).other(112).bytes()})
        EXPECT_EQ(20U, passing(20, frame));
    EXPECT_LE(passing(20, udp_to_all(1000, 2000)), 5U);
}

/// All that others say of themselves, each from another sender.
std::vector<std::pair<const char*, Bytes>> announcements() {
    const auto icmpv6 = [](std::uint32_t sender, std::uint8_t type, bool has_options) {
        PacketBuilder packet(mac("33:33:00:00:00:01"), neighbour + sender);
        packet.ipv6({.to = {0xff020000, 0, 0, 1}});
        if (has_options) packet.extension(PacketBuilder::hop_by_hop);
        auto frame = packet.other(58, 24).bytes();
        frame.at(has_options ? 62 : 54) = std::byte{type};
        return frame;
    };
    const auto address = *parse_ip("10.0.0.2");
    return {
        {"gratuitous ARP", arp_request(neighbour + 1, "10.0.0.2", "10.0.0.2")},
        {"ARP answer to all",
         arp_frame({.mac = neighbour + 2},
                   {.operation = 2, .sender = address, .target_mac = ours, .target = *parse_ip("10.0.0.1")})},
        {"IGMP", PacketBuilder(mac("01:00:5e:01:02:03"), neighbour + 3).ipv4({}).other(2).bytes()},
        {"MLD query", icmpv6(4, 130, true)},
        {"MLDv2 report", icmpv6(5, 143, true)},
        {"router solicitation", icmpv6(6, 133, false)},
        {"router advertisement", icmpv6(7, 134, false)},
        {"neighbour advertisement", icmpv6(8, 136, false)},
        {"redirect", icmpv6(9, 137, false)}};
}

TEST_F(Guard, limits_what_a_sender_announces) {
    tables.rate_by_sender = 10;
    tables.macs.insert(mac("01:00:5e:01:02:03")); // reports go to the group itself
    for (const auto& [what, frame] : announcements()) {
        const auto came = passing(200, frame);
        EXPECT_GE(came, 50U) << what << ": a neighbour announces many addresses at once";
        EXPECT_LE(came, 100U) << what;
    }
    auto answer = announcements().at(1).second;
    std::ranges::copy(std::as_bytes(std::span(ours.bytes)), answer.begin());
    EXPECT_EQ(200U, passing(200, answer)) << "to us alone";
    tables.mode = GuardMode::arp;
    for (const auto& [what, frame] : announcements())
        EXPECT_EQ(50U, passing(50, frame)) << what;
}

TEST_F(Guard, limits_what_all_announce) {
    tables.rate = 10;
    unsigned came = 0;
    for (std::uint32_t sender = 1; sender <= 200; ++sender)
        came += passes(arp_request(neighbour + sender, "10.0.0.2", "10.0.0.2")) ? 1 : 0;
    EXPECT_LE(came, 100U);
    EXPECT_GE(count(TEAMO_GUARD_BY_BROADCAST), 100U);
}

TEST_F(Guard, counts_the_announcements_of_a_sender_apart) {
    tables.rate_by_sender = 1;
    EXPECT_LE(passing(20, arp_request(neighbour, "10.0.0.2", "10.0.0.2")), 15U);
    EXPECT_TRUE(passes(udp_to_all(1000, 2000)));
    EXPECT_TRUE(passes(asks_for("10.0.0.1")));
}

TEST_F(Guard, hears_requests_for_our_addresses_in_a_storm) {
    tables.rate = 10;
    const auto asks_for_fd00 =
        neighbour_probe({.mac = neighbour}, *parse_ip("fd00::2"), *parse_ip("fd00::1"));
    // Others use up what broadcasts, multicasts, announcements and other VLANs may be.
    const auto storm = [&](std::uint32_t first) {
        for (std::uint32_t sender = first; sender < first + 20; ++sender)
            for (const auto& to : {all, mac("33:33:ff:00:00:01")})
                for (auto packet :
                     {PacketBuilder(to, ours + sender), PacketBuilder(to, ours + sender).vlan(7)})
                    passes(packet.ipv4({}).udp(1, 2).bytes());
        for (auto& [what, frame] : announcements())
            passing(100, frame);
    };
    storm(100);
    EXPECT_LE(passing(20, udp_to_all(1, 2)), 5U);
    EXPECT_TRUE(passes(asks_for("10.0.0.1")));
    EXPECT_TRUE(passes(asks_for_fd00));
    const auto own = arp_probe({.mac = ours}, *parse_ip("0.0.0.0"), *parse_ip("10.0.0.9"));
    EXPECT_TRUE(passes(own)) << "a probe of a link watch";

    tables.rate = 0;
    tables.rate_by_sender = 1;
    EXPECT_LE(passing(20, asks_for("10.0.0.1")), 5U) << "a loop";
}

TEST_F(Guard, limits_other_protocols_and_vlans) {
    tables.rate_by_sender = 1;
    const auto group = mac("01:1b:19:00:00:00");
    const auto from = [](std::uint32_t sender) { return neighbour + sender; };
    EXPECT_LE(passing(20, ethernet(all, from(1), ether_experiment, "x")), 5U);
    EXPECT_LE(passing(20, ethernet(group, from(2), ether_experiment, "x")), 5U);
    EXPECT_LE(passing(20, PacketBuilder(all, from(3)).vlan(7).ipv4({}).udp(1, 2).bytes()), 5U);
    EXPECT_LE(passing(20, PacketBuilder(all, from(4)).vlan(7, PacketBuilder::dot1ad).other(1).bytes()), 5U);
    EXPECT_LE(passing(20, PacketBuilder(all, from(5)).vlan(0).vlan(0).ipv4({}).udp(1, 2).bytes()), 5U);
    EXPECT_GE(count(TEAMO_GUARD_BY_SENDER), 75U);
    EXPECT_TRUE(passes(PacketBuilder(all, from(3)).ipv4({}).udp(1, 2).bytes())) << "a VLAN of ours";

    const auto other = mac("02:00:00:00:00:77");
    EXPECT_EQ(20U, passing(20, ethernet(ours, from(1), ether_experiment, "x")));
    EXPECT_EQ(20U, passing(20, ethernet(other, from(1), ether_experiment, "x")))
        << "not known to be unwanted";
    EXPECT_EQ(20U, passing(20, PacketBuilder(other, from(3)).vlan(7).ipv4({}).udp(1, 2).bytes()));
    tables.macs.insert(group);
    EXPECT_EQ(20U, passing(20, ethernet(group, from(2), ether_experiment, "x"))) << "has a listener";
    tables.rate_by_sender = 0;
    tables.rate = 10;
    unsigned came = 0;
    for (std::uint32_t sender = 1; sender <= 100; ++sender)
        came += passes(ethernet(all, from(sender), ether_experiment, "x")) ? 1 : 0;
    EXPECT_LE(came, 20U);
    EXPECT_TRUE(passes(udp_to_all(1, 2))) << "other protocols do not take its rate";
}

TEST_F(Guard, limits_a_sender_and_all_together) {
    tables.rate_by_sender = 10;
    unsigned came = 0;
    for (int times = 0; times < 100; ++times)
        came += passes(asks_for("10.0.0.1")) ? 1 : 0; // a loop that asks for our own address
    EXPECT_GE(came, 2U);
    EXPECT_LE(came, 20U);
    EXPECT_GE(count(TEAMO_GUARD_BY_SENDER), 80U);
    EXPECT_TRUE(passes(arp_request(mac("02:00:00:00:00:55"), "10.0.0.5", "10.0.0.1"))) << "another sender";

    tables.rate_by_sender = 0;
    tables.rate = 10;
    came = 0;
    for (std::uint32_t sender = 1; sender <= 100; ++sender)
        came += passes(arp_request(neighbour + sender, "10.0.0.5", "10.0.0.1")) ? 1 : 0;
    EXPECT_LE(came, 20U);
    EXPECT_GE(count(TEAMO_GUARD_BY_BROADCAST), 80U);
}

TEST_F(Guard, passes_vlans_without_a_device_here) {
    const auto in = [](std::uint16_t tci) {
        // The bytes of an ARP request after its EtherType.
        const auto request = asks_for("10.0.0.9");
        auto bytes = std::string(reinterpret_cast<const char*>(request.data()) + 14, request.size() - 14);
        return tagged(all, neighbour, tci, ether_arp, bytes);
    };
    EXPECT_TRUE(passes(in(7)));
    EXPECT_FALSE(passes(in(0))) << "a priority without a VLAN";
    tables.vlans = {7};
    EXPECT_EQ(1U, passing(20, in(7))) << "the first one tells the MAC address of a neighbour";
    EXPECT_TRUE(passes(in(8)));
}

TEST_F(Guard, passes_everything_when_nobody_keeps_its_addresses_up_to_date) {
    EXPECT_TRUE(program.drop_until(Clock::now() - std::chrono::seconds(1)));
    EXPECT_TRUE(passes(asks_for("10.0.0.9")));
    EXPECT_TRUE(passes(to(mac("02:00:00:00:00:77"))));
    EXPECT_TRUE(program.drop_until(Clock::now() + std::chrono::hours(1)));
    EXPECT_FALSE(passes(asks_for("10.0.0.9")));
}

TEST_F(Guard, keeps_its_addresses_while_it_cannot_step_aside) {
    EXPECT_TRUE(passes(to(ours)));
    ASSERT_EQ(0, bpf_map_freeze(map("guard_settings").get()));
    EXPECT_FALSE(program.apply({.mode = GuardMode::arp}));
    EXPECT_FALSE(program.apply({})) << "the mode is still full";
    EXPECT_TRUE(passes_now(to(ours)));
    EXPECT_TRUE(passes_now(asks_for("10.0.0.1")));
}

TEST_F(Guard, passes_what_it_cannot_read) {
    const auto options =
        PacketBuilder(all, neighbour).ipv6({}).extension(PacketBuilder::hop_by_hop, 200).bytes();
    // The kernel's test run takes no shorter IP header.
    const std::vector<std::pair<Bytes, std::vector<std::size_t>>> cut{
        {asks_for("10.0.0.9"), {41, 20, 14}}, {udp_to_all(67, 68), {36, 34}}, {options, {60, 55, 54}}};
    for (const auto& [whole, sizes] : cut)
        for (const auto size : sizes)
            EXPECT_TRUE(passes(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size))))
                << size;
    EXPECT_TRUE(passes(options));
    tables.rate_by_sender = 1;
    EXPECT_LE(passing(20, options), 5U) << "a storm of it";
}

} // namespace
} // namespace teamo::test
