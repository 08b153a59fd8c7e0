// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Cost of a packet in the programs, in nanoseconds: means of many runs, each short enough that some are not
// interrupted. Excludes the redirect itself and the devices.
#include "addresses.h"
#include "base/result.h"
#include "programs.h"
#include "support/figure.h"
#include "support/traffic/packet.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <stdexcept>
#include <vector>

namespace teamo::test {
namespace {

constexpr std::uint32_t l3_l4 =
    TEAMO_HASH_IPV4 | TEAMO_HASH_IPV6 | TEAMO_HASH_TCP | TEAMO_HASH_UDP | TEAMO_HASH_SCTP;

constexpr std::uint32_t in_a_row = 100'000;

std::vector<double> nanoseconds(const std::function<Verdict()>& run) {
    std::vector<double> means;
    for (int round = 0; round < 25; ++round)
        means.push_back(run().nanoseconds);
    return means;
}

TEST(ProgramCost, stays_below_limit_per_packet) {
    const auto v4 = PacketBuilder(peer, own).ipv4({}).tcp(1, 2).payload(1000).bytes();
    const auto v6 = PacketBuilder(peer, own).ipv6({}).tcp(1, 2).payload(1000).bytes();
    constexpr Bounds bounds{.promised = 200, .defect = 400};
    Programs programs;
    const auto transmit = [&](const char* what, const Bytes& packet, std::uint32_t fields,
                              std::uint32_t live) {
        programs.team.hash_fields = fields;
        programs.live.tx = live;
        const auto cost = nanoseconds([&] { return programs.transmit(packet, in_a_row); });
        EXPECT_TRUE(at_most(fmt::format("{}, ns", what), cost, bounds));
    };
    transmit("one live slot", v4, l3_l4, slot_set({4}));
    transmit("eth", v4, TEAMO_HASH_ETH, all_slots);
    transmit("eth, ipv4, ipv6 (the default)", v4, TEAMO_HASH_ETH | TEAMO_HASH_IPV4 | TEAMO_HASH_IPV6,
             all_slots);
    transmit("l3 and l4, IPv4", v4, l3_l4, all_slots);
    transmit("l3 and l4, IPv6", v6, l3_l4, all_slots);
    for (std::uint32_t cpu = 0; cpu < 64; ++cpu)
        programs.set_cpu_slot(cpu, 3);
    programs.set_drain(3, 20'000'000);
    transmit("cpu, a flow that stays, IPv4", v4, TEAMO_HASH_CPU, all_slots);
    transmit("cpu, a flow that stays, IPv6", v6, TEAMO_HASH_CPU, all_slots);
    programs.team.mode = TEAMO_MODE_ROUNDROBIN;
    transmit("round robin", v4, 0, all_slots);
    programs.team.port_ifindex[3] = 1;
    const auto receive =
        nanoseconds([&] { return programs.run(programs.receive_program(), v4, 0, 0, in_a_row); });
    EXPECT_TRUE(at_most("receive, ns", receive, bounds));
}

TEST(ProgramCost, of_the_hash_by_source) {
    constexpr Bounds bounds{.promised = 200, .defect = 400};
    constexpr MacAddress group{{0x33, 0x33, 0, 0, 0, 1}};
    Programs programs(TEAMO_LINKS_UNSEEN, /*by_source=*/true);
    const auto out = PacketBuilder(peer, own).ipv4({}).tcp(1, 2).payload(1000).bytes();
    EXPECT_TRUE(at_most("by source, transmit, ns",
                        nanoseconds([&] { return programs.transmit(out, in_a_row); }), bounds));
    programs.team.port_ifindex[programs.transmit(out).slot] = 1; // where the address receives
    for (const auto& [name, to] : {std::pair{"unicast", own}, {"multicast", group}}) {
        const auto in = PacketBuilder(to, peer).ipv4({}).udp(1, 2).payload(1000).bytes();
        EXPECT_TRUE(at_most(fmt::format("by source, receive {}, ns", name), nanoseconds([&] {
                                return programs.run(programs.receive_program(), in, 0, 0, in_a_row);
                            }),
                            bounds));
    }
}

/// All slots are the loopback, which has a link.
void learn_links(Programs& programs) {
    const auto ports = programs.team;
    for (std::uint32_t slot = 1; slot < TEAMO_SLOTS; ++slot) {
        std::ranges::fill(programs.team.port_ifindex, 0U);
        programs.team.port_ifindex[slot] = 1;
        programs.learn_device(slot);
    }
    programs.team = ports;
}

TEST(ProgramCost, of_seeing_links) {
    const auto packet = PacketBuilder(peer, own).ipv4({}).tcp(1, 2).payload(1000).bytes();
    for (const auto& [name, reading] : {std::pair{"unseen", TEAMO_LINKS_UNSEEN},
                                        {"probed", TEAMO_LINKS_PROBED},
                                        {"read", TEAMO_LINKS_READ}}) {
        std::optional<Programs> programs;
        try {
            programs.emplace(reading);
        } catch (const std::runtime_error& refused) {
            fmt::print("links {}: {}\n", name, refused.what());
            continue;
        }
        if (reading != TEAMO_LINKS_UNSEEN) learn_links(*programs);
        programs->team.hash_fields = l3_l4;
        programs->live.tx = all_slots;
        const auto cost = nanoseconds([&] { return programs->transmit(packet, in_a_row); });
        EXPECT_TRUE(
            at_most(fmt::format("links {}, transmit, ns", name), cost, {.promised = 200, .defect = 400}));
        programs->team.port_ifindex[3] = 1;
        programs->live.tx = slot_set({3});
        programs->live.standby = 0x0504;
        const auto receive =
            nanoseconds([&] { return programs->run(programs->receive_program(), packet, 0, 0, in_a_row); });
        EXPECT_TRUE(at_most(fmt::format("links {}, receive with standby slots, ns", name), receive,
                            {.promised = 200, .defect = 400}));
    }
}

} // namespace
} // namespace teamo::test
