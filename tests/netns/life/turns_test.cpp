// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Checks the order of arrival: a random choice would use all ports as evenly.
//
// Its line for the lab is in traffic/runners_test.cpp.
#include "netns/configs.h"
#include "support/net/far_ends.h"
#include "support/traffic/frames.h"
#include "support/traffic/on_cpu.h"
#include "support/traffic/packet_socket.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

TEST(Runner, roundrobin_takes_turns) {
    constexpr unsigned ports = 3, frames = 60;
    const OnCpu one(usable_cpus().front()); // with BPF each CPU has a counter of its own
    const Cabling wires(ports, FarSide::open);
    const TeamUnderTest team(team_config(R"({"name": "roundrobin"})", ports_object(ports)));
    bring_up(wires, team);
    const PacketSocket out(wires.host(), "team0");
    const FarEnds far(wires, ether_experiment);
    const auto own = mac(look(wires.host(), "team0").address);
    for (unsigned number = 0; number < frames; ++number)
        out.send(
            ethernet(mac("02:00:00:00:00:02"), own, ether_experiment, fmt::format("number {:03}", number)));
    unsigned arrived = 0, in_turn = 0;
    for (const auto& at_one : far.drain(frames)) {
        std::optional<unsigned> before;
        for (const auto& seen : at_one) {
            const auto number =
                static_cast<unsigned>(std::stoul(std::string(from_offset(seen.frame, 14 + 7).substr(0, 3))));
            ++arrived;
            if (before && number == *before + ports) ++in_turn;
            before = number;
        }
    }
    EXPECT_EQ(frames, arrived);
    // Packets of the kernel itself take some turns.
    EXPECT_GE(in_turn, 40U) << "of " << frames - ports;
}

} // namespace
} // namespace teamo::test
