// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A port's device goes while packets pass and the daemon is frozen: it is deleted, moves to another
// namespace, or a stranger takes its ifindex. No packet may be lost, and none may reach the stranger.
#include "netns/configs.h"
#include "support/figure.h"
#include "support/traffic/traffic.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <csignal>

namespace teamo::test {
namespace {

constexpr unsigned going_rate = 10'000;

enum class Going { deleted, moved, replaced };

class GonePort : public testing::TestWithParam<Going> {};

/// Kernel messages that report a defect.
std::string defects() {
    return sh(NetNs::current(), "dmesg | grep -cE 'WARNING:|BUG:|Oops|general protection'").out;
}

/// Packets that the stranger sent.
std::uint64_t let_go(const Cabling& wires, Going going, const Stream& stream) {
    const auto index = look(wires.host(), "eth2").index;
    if (going == Going::moved) {
        wires.host().ip("link set eth2 netns " + wires.peer().path());
        EXPECT_TRUE(stream.flows(going_rate / 10));
        wires.peer().ip("link del eth2");
        return 0;
    }
    wires.host().ip("link del eth2");
    if (going == Going::deleted) {
        EXPECT_TRUE(stream.flows(going_rate / 10));
        return 0;
    }
    // The number is free only when the kernel has freed the device.
    EXPECT_TRUE(eventually("the number is free", [&] {
        return run({.argv = {"ip", "link", "add", "stranger", "index", std::to_string(index), "type", "veth",
                             "peer", "name", "stranger_peer"},
                    .in = &wires.host()})
                   .status == 0;
    }));
    must(wires.host(),
         "for end in stranger stranger_peer; do echo 1 > /proc/sys/net/ipv6/conf/$end/disable_ipv6; done");
    wires.host().ip("link set stranger up\nlink set stranger_peer up");
    EXPECT_TRUE(stream.flows(going_rate / 10));
    const auto sent = counters(wires.host(), "stranger").tx_packets;
    wires.host().ip("link del stranger");
    return sent;
}

TEST_P(GonePort, loses_nothing) {
    const Cabling wires(3, FarSide::lag_switch);
    const TeamUnderTest team(team_config(R"({"name": "roundrobin"})", ports_object(3)));
    bring_up(wires, team);
    const Stream stream(
        {.from = &wires.host(), .to = &wires.client(), .address = client_v4, .rate = going_rate});
    const auto before = defects();
    std::vector<std::uint64_t> lost;
    std::uint64_t to_stranger = 0;
    for (int round = 0; round < rounds({.shown = 2, .measured = 67}); ++round) {
        team.signal(SIGSTOP);
        const auto first = stream.next();
        to_stranger += let_go(wires, GetParam(), stream);
        lost.push_back(stream.tally(first, stream.next() - going_rate / 50).lost);
        team.signal(SIGCONT);
        EXPECT_TRUE(team.await_item("ports.eth2.link.up", ""));
        wires.add_cable(2);
        EXPECT_TRUE(team.await_link("eth2"));
        EXPECT_TRUE(team.await_item("ports.eth2.datapath.transmits", "true"));
    }
    fmt::print("lost in {} rounds: {}; {} packets to the stranger\n", lost.size(), fmt::join(lost, " "),
               to_stranger);
    EXPECT_TRUE(at_most("packets lost, median", median(lost), {.promised = 0, .defect = 100}));
    EXPECT_TRUE(at_most("packets lost, worst", static_cast<double>(std::ranges::max(lost)),
                        {.promised = 5, .defect = 500}));
    EXPECT_EQ(0U, to_stranger);
    EXPECT_EQ(before, defects());
}

INSTANTIATE_TEST_SUITE_P(Device, GonePort, testing::Values(Going::deleted, Going::moved, Going::replaced),
                         [](const auto& one) {
                             return one.param == Going::deleted ? "deleted"
                                    : one.param == Going::moved ? "moved"
                                                                : "replaced";
                         });

} // namespace
} // namespace teamo::test
