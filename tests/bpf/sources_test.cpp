// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The hash by source: which port an address sends by, and which frames are taken.
#include "addresses.h"
#include "datapath/bpf/flow_hash.h"
#include "programs.h"
#include "support/eventually.h"
#include "support/traffic/packet.h"

#include <gmock/gmock.h>

#include <linux/if_ether.h>

#include <set>

namespace teamo::test {
namespace {

constexpr std::uint32_t arrival_device = 1; ///< the loopback
constexpr MacAddress everybody{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}}, a_group{{0x33, 0x33, 0, 0, 0, 1}};

std::uint64_t mac_number(const MacAddress& address) {
    std::uint64_t number = 0;
    for (const auto byte : address.bytes)
        number = number << 8 | byte;
    return number;
}

std::uint32_t source_bucket(const MacAddress& address, std::uint32_t vlan = 0) {
    return teamo_bucket_of(teamo_hash_source(mac_number(address), vlan));
}

class SourcePrograms : public testing::Test {
protected:
    int receive_by(std::uint32_t slot, const Bytes& frame) {
        for (std::uint32_t other = 1; other < TEAMO_SLOTS; ++other)
            programs_.team.port_ifindex[other] = other == slot ? arrival_device : 1000 + other;
        return programs_.receive(frame).action;
    }
    int receive_by(std::uint32_t slot, const MacAddress& to, std::size_t bytes = 46) {
        return receive_by(slot, PacketBuilder(to, peer).other(0x88b5, bytes).bytes());
    }
    std::uint32_t send(const MacAddress& from = own) {
        return programs_.transmit(PacketBuilder(peer, from).other(0x88b5, 46).bytes()).slot;
    }
    /// All buckets use this slot first.
    void move_to(std::uint8_t slot) {
        programs_.prefer([slot](std::uint32_t) { return teamo_bucket{{slot, 1, 2, 3}}; });
    }

    Programs programs_{TEAMO_LINKS_UNSEEN, /*by_source=*/true};
};

TEST_F(SourcePrograms, send_by_source_and_outermost_vlan_alone) {
    constexpr auto fields = TEAMO_HASH_SOURCE;
    for (const auto& to : {peer, everybody, a_group})
        EXPECT_EQ(programs_.bucket_of(PacketBuilder(to, own).ipv4({}).udp(1, 2).bytes(), fields),
                  source_bucket(own));
    EXPECT_EQ(programs_.bucket_of(PacketBuilder(peer, own).ipv6({}).tcp(7, 9).bytes(), fields),
              source_bucket(own));
    EXPECT_EQ(programs_.bucket_of(PacketBuilder(own, peer).other(0x88b5, 46).bytes(), fields),
              source_bucket(peer));
    for (const std::uint16_t inner : {std::uint16_t{2}, std::uint16_t{3}})
        EXPECT_EQ(
            programs_.bucket_of(
                PacketBuilder(peer, own).vlan(5, PacketBuilder::dot1ad).vlan(inner).ipv4({}).bytes(), fields),
            source_bucket(own, 5))
            << "switches learn by the outer one";
    EXPECT_NE(source_bucket(own, 5), source_bucket(own, 6));
    teamo_flow flow{};
    flow.src_mac = mac_number(own);
    flow.vlan = 5U << 12 | 2;
    EXPECT_EQ(teamo_flow_bucket(&flow, fields), source_bucket(own, 5));
}

TEST(SourceHash, gives_neighbouring_addresses_buckets_of_their_own) {
    for (const std::uint64_t step : {1, 2}) {
        std::set<std::uint32_t> buckets, by_vlan;
        for (std::uint64_t count = 0; count < 64; ++count) {
            buckets.insert(teamo_bucket_of(teamo_hash_source(mac_number(own) + count * step, 0)));
            by_vlan.insert(teamo_bucket_of(
                teamo_hash_source(mac_number(own), static_cast<std::uint32_t>(1 + count * step))));
        }
        EXPECT_EQ(buckets.size(), 64U) << step;
        EXPECT_EQ(by_vlan.size(), 64U) << step;
    }
}

TEST_F(SourcePrograms, take_a_frame_by_the_port_of_its_address) {
    const auto owner = source_bucket(own) / 32 + 1;
    // The switches may have it anywhere, as after a change of the runner.
    for (std::uint32_t slot = 1; slot < TEAMO_SLOTS; ++slot)
        EXPECT_EQ(receive_by(slot, own), slot == 1 ? redirected : dropped) << slot << ", before it has sent";
    EXPECT_EQ(send(), owner);
    for (std::uint32_t slot = 1; slot < TEAMO_SLOTS; ++slot)
        EXPECT_EQ(receive_by(slot, own), slot == owner ? redirected : dropped) << slot;
}

TEST_F(SourcePrograms, drop_what_comes_back) {
    const auto own_frame = PacketBuilder(everybody, own).other(0x88b5, 46).bytes();
    EXPECT_EQ(receive_by(2, own_frame), redirected) << "not from here";
    send();
    for (const auto& to : {everybody, a_group, peer})
        for (std::uint32_t slot = 1; slot < TEAMO_SLOTS; ++slot)
            EXPECT_EQ(receive_by(slot, PacketBuilder(to, own).other(0x88b5, 46).bytes()), dropped) << slot;
    EXPECT_TRUE(eventually("the address may be elsewhere after a second",
                           [&] { return receive_by(2, own_frame) == redirected; }));
}

TEST_F(SourcePrograms, hear_an_address_that_is_only_announced_from_here) {
    const auto own_frame = PacketBuilder(everybody, own).other(0x88b5, 46).bytes();
    const auto announcement = PacketBuilder(everybody, own).vlan(7).other(ETH_P_RARP, 28).bytes();
    programs_.transmit(PacketBuilder(peer, own).vlan(7).other(0x88b5, 46).bytes());
    EXPECT_TRUE(eventually("it is elsewhere", [&] {
        programs_.transmit(announcement);
        EXPECT_EQ(receive_by(2, announcement), dropped);
        return receive_by(2, PacketBuilder(everybody, own).vlan(7).other(0x88b5, 46).bytes()) == redirected;
    }));
    send();
    EXPECT_EQ(receive_by(2, own_frame), dropped);
}

TEST_F(SourcePrograms, take_one_copy_of_a_group_by_the_port_of_the_first) {
    for (const auto& to : {everybody, a_group}) {
        EXPECT_EQ(receive_by(3, to), redirected);
        EXPECT_EQ(receive_by(4, to), dropped);
        EXPECT_EQ(receive_by(3, to), redirected) << "the same frame sent again";
        EXPECT_EQ(receive_by(3, to, 60), redirected);
        EXPECT_EQ(receive_by(4, to, 60), dropped);
    }
    EXPECT_TRUE(eventually("another port brings the frames after a pause",
                           [&] { return receive_by(4, a_group) == redirected; }));
    EXPECT_EQ(receive_by(3, a_group), dropped);
    programs_.live.tx = all_slots & ~slot_set({4});
    EXPECT_EQ(receive_by(3, a_group, 61), redirected) << "the other one sends no more";
    EXPECT_EQ(receive_by(4, a_group, 61), dropped);
    programs_.live.tx = slot_set({1, 4});
    EXPECT_EQ(receive_by(3, {{0x33, 0x33, 0, 0, 0, 2}}), dropped) << "it does not send";
}

TEST_F(SourcePrograms, take_frames_by_the_former_port_after_a_move) {
    move_to(3);
    EXPECT_EQ(send(), 3U);
    move_to(5);
    EXPECT_EQ(receive_by(3, own), redirected) << "it has not sent by the new one yet";
    EXPECT_EQ(receive_by(5, own), dropped);
    EXPECT_EQ(send(), 5U);
    EXPECT_EQ(receive_by(3, own, 50), redirected);
    EXPECT_EQ(receive_by(5, own, 50), dropped) << "a copy";
    EXPECT_EQ(receive_by(5, own, 51), redirected);
    EXPECT_EQ(receive_by(3, own, 51), dropped) << "a copy";
    EXPECT_EQ(receive_by(4, own, 52), dropped);
    EXPECT_EQ(receive_by(5, own, 53), redirected);
    EXPECT_TRUE(eventually("the former port brings frames again after a pause",
                           [&] { return receive_by(3, own, 54) == redirected; }));
    EXPECT_TRUE(eventually("it does not count any more", [&] { return receive_by(3, own, 55) == dropped; }));
    EXPECT_EQ(receive_by(5, own, 56), redirected);
}

TEST_F(SourcePrograms, take_frames_by_another_port_when_that_of_the_address_is_lost) {
    move_to(3);
    EXPECT_EQ(send(), 3U);
    programs_.live.tx = programs_.live.rx = all_slots & ~slot_set({3});
    EXPECT_EQ(receive_by(1, own), redirected) << "the next in order";
    EXPECT_EQ(receive_by(2, own), dropped);
    EXPECT_EQ(send(), 1U);
    EXPECT_EQ(receive_by(1, own), redirected);
}

TEST_F(SourcePrograms, count_what_an_address_receives) {
    const auto before = programs_.bucket_counters_of(source_bucket(own)).bytes;
    receive_by(source_bucket(own) / 32 + 1, own, 86);
    receive_by(source_bucket(own) / 32 + 1, everybody, 86);
    EXPECT_EQ(programs_.bucket_counters_of(source_bucket(own)).bytes - before, 100U);
}

} // namespace
} // namespace teamo::test
