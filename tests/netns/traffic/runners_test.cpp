// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The runners that do not use the packet to select a port.
//
// lab: Runner.* by team, 25 s
// lab: Runner.* by bond on newest, 10 s
// lab: Runner.*-Runner.roundrobin_takes_turns by bpf, 40 s, long
#include "netns/configs.h"
#include "support/net/far_ends.h"
#include "support/traffic/frames.h"
#include "support/traffic/packet_socket.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace teamo::test {
namespace {

using testing::ElementsAre;

/// Sends this many frames of one flow and counts the arrivals at each far end.
std::vector<std::size_t> arrivals(const Cabling& wires, std::size_t frames, std::size_t copies = 1) {
    const PacketSocket team(wires.host(), "team0");
    const FarEnds far(wires, ether_experiment);
    const auto own = mac(look(wires.host(), "team0").address);
    for (std::size_t count = 0; count < frames; ++count)
        team.send(ethernet(mac("02:00:00:00:00:02"), own, ether_experiment, "one flow"));
    std::vector<std::size_t> counts;
    counts.reserve(wires.ports());
    for (const auto& arrived : far.drain(frames * copies))
        counts.push_back(arrived.size());
    return counts;
}

std::string runner(std::string_view name) {
    return team_config(fmt::format(R"({{"name": "{}"}})", name), ports_object(3));
}

TEST(Runner, broadcast_uses_every_port) {
    const Cabling wires(3, FarSide::open);
    const TeamUnderTest team(runner("broadcast"));
    bring_up(wires, team);
    EXPECT_THAT(arrivals(wires, 20, 3), ElementsAre(20, 20, 20));
}

TEST(Runner, roundrobin_uses_ports_equally) {
    const Cabling wires(3, FarSide::open);
    const TeamUnderTest team(runner("roundrobin"));
    bring_up(wires, team);
    const auto counts = arrivals(wires, 300);
    EXPECT_EQ(300U, counts[0] + counts[1] + counts[2]);
    for (const auto count : counts)
        EXPECT_NEAR(100.0, static_cast<double>(count), 5) << "each CPU has a counter of its own";
}

TEST(Runner, random_uses_ports_about_equally) {
    const Cabling wires(3, FarSide::open);
    const TeamUnderTest team(runner("random"));
    bring_up(wires, team);
    const auto counts = arrivals(wires, 600);
    EXPECT_EQ(600U, counts[0] + counts[1] + counts[2]);
    for (const auto count : counts)
        EXPECT_NEAR(200.0, static_cast<double>(count), 70); // 5.5 standard deviations
}

TEST(Runner, roundrobin_skips_a_port_without_a_link) {
    const Cabling wires(3, FarSide::open);
    const TeamUnderTest team(runner("roundrobin"));
    bring_up(wires, team);
    wires.pull(2);
    ASSERT_TRUE(team.await_link("eth2", false));
    const auto counts = arrivals(wires, 100);
    EXPECT_EQ(100U, counts[0] + counts[2]);
}

} // namespace
} // namespace teamo::test
