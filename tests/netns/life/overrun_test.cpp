// SPDX-License-Identifier: LGPL-2.1-or-later
//
// More link events than the daemon's socket holds, while it is stopped: the kernel drops the others
// (ENOBUFS).
//
// lab: Overrun.* by none: the events are the same with every datapath
#include "netns/configs.h"

#include <csignal>
#include <fstream>
#include <sstream>

namespace teamo::test {
namespace {

/// Events that the kernel has dropped for sockets of this namespace that listen to links.
std::uint64_t dropped_link_events(const NetNs& in) {
    auto table = in.inside([] { return std::ifstream("/proc/thread-self/net/netlink"); });
    std::uint64_t all = 0;
    for (std::string line; std::getline(table, line);) {
        std::istringstream words(line);
        std::string socket, family, skipped, groups;
        std::uint64_t drops = 0;
        if (!(words >> socket >> family >> skipped >> groups)) continue;
        for (int column = 0; column < 4; ++column)
            words >> skipped; // rmem, wmem, dump, locks
        if (!(words >> drops) || family != "0") continue;
        constexpr unsigned links = 1; // RTNLGRP_LINK
        if ((std::stoul(groups, nullptr, 16) & links) != 0) all += drops;
    }
    return all;
}

/// Changes a device that concerns no team, until no event fits into the daemon's socket.
void overrun(const NetNs& in) {
    std::string lines;
    for (int times = 0; times < 2'000; ++times)
        lines += fmt::format("link set lo alias {}\n", times);
    const auto is_full = [&] {
        in.ip(lines);
        return dropped_link_events(in) > 0;
    };
    if (!eventually("", is_full, 60s)) throw SetupError("the kernel drops no event");
}

TEST(Overrun, is_no_loss) {
    const Cabling wires(3, FarSide::open);
    wires.host().ip("link del eth3");
    TeamUnderTest team(loadbalance(3));
    ASSERT_TRUE(team.await_link("eth1") && team.await_link("eth2"));
    team.signal(SIGSTOP);
    overrun(wires.host());
    // None of these is an event that the daemon gets.
    wires.host().ip("link del eth1");
    wires.pull(2);
    wires.add_cable(3);
    team.signal(SIGCONT);
    EXPECT_TRUE(team.await_item("ports.eth1.ifinfo.ifindex", ""));
    EXPECT_TRUE(team.await_link("eth2", false));
    EXPECT_TRUE(team.await_link("eth3"));
    EXPECT_EQ(fmt::format("{}", look(wires.host(), "eth3").index), team.item("ports.eth3.ifinfo.ifindex"));
    EXPECT_NE(std::string::npos, team.log().find("link events were lost; reading all devices again"));
}

} // namespace
} // namespace teamo::test
