// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which port a packet leaves by, for given maps.
#include "addresses.h"
#include "programs.h"
#include "support/net/net_ns.h"
#include "support/traffic/on_cpu.h"
#include "support/traffic/packet.h"
#include "support/traffic/packet_socket.h"

#include <gmock/gmock.h>

#include <net/if.h>

#include <algorithm>
#include <array>
#include <vector>

namespace teamo::test {
namespace {

teamo_bucket in_order(std::initializer_list<std::uint8_t> slots) {
    teamo_bucket order{};
    std::copy(slots.begin(), slots.end(), order.slot);
    return order;
}

class TransmitProgram : public testing::Test {
protected:
    void prefer(std::initializer_list<std::uint8_t> slots) {
        programs_.prefer([order = in_order(slots)](std::uint32_t) { return order; });
    }

    Programs programs_;
};

TEST_F(TransmitProgram, uses_first_live_slot_of_bucket) {
    prefer({3, 5, 8, 1});
    const std::array<std::pair<std::uint32_t, std::uint32_t>, 5> expected = {{{all_slots, 3},
                                                                              {slot_set({1, 2, 3, 8}), 3},
                                                                              {slot_set({1, 5, 8}), 5},
                                                                              {slot_set({1, 2, 8}), 8},
                                                                              {slot_set({1, 2, 4}), 1}}};
    for (const auto& [live, slot] : expected) {
        programs_.live.tx = live;
        const auto verdict = programs_.transmit(some_packet());
        EXPECT_EQ(verdict.action, redirected);
        EXPECT_EQ(verdict.slots, slot_set({slot})) << "live " << live;
    }
}

TEST_F(TransmitProgram, counts_bytes_with_ethernet_header) {
    const auto verdict = programs_.transmit(some_packet(), 3);
    EXPECT_EQ(verdict.counters.tx_packets, 3U);
    EXPECT_EQ(verdict.counters.tx_bytes, 3 * some_packet().size());
    EXPECT_EQ(verdict.counters.rx_packets, 0U);
}

TEST_F(TransmitProgram, counts_drop_without_live_slot) {
    for (const std::uint32_t live : {0U, 1U, 1U << 9, 1U | 1U << 31}) {
        programs_.live.tx = live;
        const auto verdict = programs_.transmit(some_packet());
        EXPECT_EQ(verdict.action, dropped) << live;
        EXPECT_EQ(verdict.slots, slot_set({0}));
        EXPECT_EQ(verdict.counters.tx_bytes, some_packet().size());
    }
}

TEST_F(TransmitProgram, drops_if_bucket_has_no_live_slot) {
    programs_.live.tx = slot_set({4, 5});
    for (const auto& order : {in_order({}), in_order({1, 2}), in_order({0, 9, 200, 255})}) {
        programs_.prefer([&](std::uint32_t) { return order; });
        EXPECT_EQ(programs_.transmit(some_packet()).action, dropped);
    }
}

TEST_F(TransmitProgram, skips_unused_places_in_order) {
    prefer({0, 0, 0, 0, 0, 0, 0, 7});
    EXPECT_EQ(programs_.transmit(some_packet()).slot, 7U);
}

TEST_F(TransmitProgram, drops_if_slot_has_no_device) {
    prefer({2});
    programs_.team.port_ifindex[2] = 0;
    const auto verdict = programs_.transmit(some_packet());
    EXPECT_EQ(verdict.action, dropped);
    EXPECT_EQ(verdict.slots, slot_set({0}));
}

TEST_F(TransmitProgram, uses_single_live_slot_in_every_mode) {
    prefer({});
    for (const auto mode :
         {TEAMO_MODE_HASH, TEAMO_MODE_ROUNDROBIN, TEAMO_MODE_RANDOM, TEAMO_MODE_BROADCAST}) {
        programs_.team.mode = mode;
        for (unsigned slot = 1; slot < TEAMO_SLOTS; slot++) {
            programs_.live.tx = slot_set({slot});
            const auto verdict = programs_.transmit(some_packet());
            EXPECT_EQ(verdict.action, redirected);
            EXPECT_EQ(verdict.slots, slot_set({slot})) << "mode " << mode;
        }
    }
}

TEST_F(TransmitProgram, round_robin_takes_exact_turns) {
    programs_.team.mode = TEAMO_MODE_ROUNDROBIN;
    programs_.live.tx = slot_set({2, 3, 5, 8});
    programs_.transmit(some_packet(), 400);
    for (const unsigned slot : {2U, 3U, 5U, 8U})
        EXPECT_EQ(programs_.counters_of(slot).tx_packets, 100U) << slot;

    const OnCpu one(static_cast<unsigned>(sched_getcpu())); // each CPU has its own round
    std::vector<std::uint32_t> order;
    for (int i = 0; i < 4; i++)
        order.push_back(programs_.transmit(some_packet()).slot);
    std::rotate(order.begin(), std::min_element(order.begin(), order.end()), order.end());
    EXPECT_THAT(order, testing::ElementsAre(2, 3, 5, 8));
}

TEST_F(TransmitProgram, round_robin_continues_after_lost_port) {
    programs_.team.mode = TEAMO_MODE_ROUNDROBIN;
    const OnCpu one(static_cast<unsigned>(sched_getcpu()));
    programs_.live.tx = slot_set({4, 5});
    while (programs_.transmit(some_packet()).slot != 5)
        ;
    programs_.live.tx = slot_set({3, 4, 7});
    EXPECT_EQ(programs_.transmit(some_packet()).slot, 7U);
    EXPECT_EQ(programs_.transmit(some_packet()).slot, 3U);
}

TEST_F(TransmitProgram, random_spreads_over_buckets) {
    programs_.team.mode = TEAMO_MODE_RANDOM;
    programs_.live.tx = slot_set({1, 2, 3, 4});
    programs_.prefer(
        [](std::uint32_t bucket) { return in_order({static_cast<std::uint8_t>(bucket / 64 + 1)}); });
    programs_.transmit(some_packet(), 40'000);
    for (unsigned slot = 1; slot <= 4; slot++)
        EXPECT_NEAR(static_cast<double>(programs_.counters_of(slot).tx_packets), 10'000, 500) << slot;
}

TEST_F(TransmitProgram, broadcast_copies_to_every_live_slot) {
    const auto ns = NetNs::create();
    for (const char* name : {"port1", "port4", "port8"})
        ns.ip(std::string("link add ") + name + " type veth peer name " + name + "_far\nlink set " + name +
              " up\nlink set " + name + "_far up");
    ns.inside([&] {
        programs_.team.mode = TEAMO_MODE_BROADCAST;
        programs_.team.port_ifindex[1] = if_nametoindex("port1");
        programs_.team.port_ifindex[4] = if_nametoindex("port4");
        programs_.team.port_ifindex[8] = if_nametoindex("port8");
        programs_.live.tx = slot_set({1, 4, 8});
        const PacketSocket first(ns, "port1_far"), second(ns, "port4_far");
        ASSERT_TRUE(eventually("the ports carry",
                               [&] { return programs_.transmit(some_packet()).counters.tx_packets == 3; }));
        first.drain(0), second.drain(0);
        const auto verdict = programs_.transmit(some_packet());
        EXPECT_EQ(verdict.action, redirected) << "the last one is not a copy";
        EXPECT_EQ(verdict.slots, slot_set({1, 4, 8}));
        EXPECT_EQ(verdict.counters.tx_packets, 3U);
        const auto ours = [](const Seen& seen) { return seen.frame == some_packet(); };
        EXPECT_TRUE(first.await(ours));
        EXPECT_TRUE(second.await(ours));
    });
}

TEST_F(TransmitProgram, broadcast_counts_failed_copy_as_drop) {
    programs_.team.mode = TEAMO_MODE_BROADCAST; // the ports' devices do not exist
    programs_.live.tx = slot_set({2, 3});
    EXPECT_EQ(programs_.transmit(some_packet()).slots, slot_set({TEAMO_NO_SLOT, 3}));
}

} // namespace
} // namespace teamo::test
