// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Promise: the partner of a team with the runner lacp does not notice a daemon that is killed and started
// again.
#include "netns/configs.h"
#include "support/daemon/lacp_partner.h"
#include "support/figure.h"
#include "support/traffic/traffic.h"

#include <algorithm>

namespace teamo::test {
namespace {

constexpr int restarts = 20;

TEST(LacpRestart, loses_no_packet_and_no_partner) {
    if (!promises_enforced()) GTEST_SKIP() << "only in ./quickstart measure";
    const Cabling wires(2, FarSide::open);
    const auto& far = wires.peer();
    TeamUnderTest team(team_config(fast, ports_object(2)));
    Partner partner_team(wires, {1, 2});
    const auto& partner = partner_team.team();
    partner_team.address();
    wires.host().ip("link set team0 up");
    for (const auto* port : {"eth1", "eth2"})
        ASSERT_TRUE(team.await_item(fmt::format("ports.{}.runner.detail.mux_state", port), "distributing"));
    wires.address();
    Stream out({.from = &wires.host(), .to = &far, .address = client_v4, .rate = 20'000});
    Stream in({.from = &far, .to = &wires.host(), .address = team_v4, .rate = 20'000});
    milliseconds longest_end{0}, longest_start{0};
    int longest = 0; // milliseconds since the partner got the last LACPDU
    const auto watch = [&](milliseconds time) {
        for (const auto start = SteadyClock::now(); since(start) < time;) {
            longest = std::max(longest,
                               std::stoi(partner.item("ports.p1.runner.detail.milliseconds_since_received")));
            EXPECT_EQ("63", partner.item("ports.p1.runner.partner_lacpdu_info.state"));
        }
    };
    for (int round = 0; round < restarts; ++round) {
        const auto lasts = [](milliseconds& longest_yet, const auto& act) {
            const auto start = SteadyClock::now();
            act();
            longest_yet = std::max(longest_yet, std::chrono::duration_cast<milliseconds>(since(start)));
        };
        lasts(longest_end, [&] { team.kill(); });
        watch(200ms);
        lasts(longest_start, [&] { team.start(); });
        watch(1s);
    }
    out.stop();
    in.stop();
    fmt::print("{} restarts: longest end {} ms, longest start {} ms, longest pause between LACPDUs {} ms\n"
               "out: {}\nin: {}\n",
               restarts, longest_end.count(), longest_start.count(), longest, text_of(out.tally()),
               text_of(in.tally()));
    EXPECT_EQ(0U, out.tally().lost);
    EXPECT_EQ(0U, in.tally().lost);
    // A partner waits for 3 s. The kernel ends a process only after waiting for the readers of its packet
    // sockets (af_packet.c: synchronize_net()), on busy CPUs a second or more.
    EXPECT_TRUE(at_most("ms between LACPDUs", longest, {.promised = 1500, .defect = 3000}));
    EXPECT_EQ(std::string::npos, partner.log().find("no longer carries"));
}

} // namespace
} // namespace teamo::test
