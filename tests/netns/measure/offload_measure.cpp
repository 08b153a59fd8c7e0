// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How soon the daemon switches an offload on again after another program switched it off.
#include "kernel/ethtool/ethtool.h"
#include "netns/configs.h"
#include "support/eventually.h"
#include "support/figure.h"

#include <algorithm>
#include <vector>

namespace teamo::test {
namespace {

constexpr auto tcp4 = "tx-tcp-segmentation";

TEST(OffloadRepair, takes_at_most_100_ms) {
    constexpr unsigned times = 7; // of the eight repairs without a pause
    const Cabling wires(4, FarSide::open);
    const TeamUnderTest team(loadbalance(4));
    bring_up(wires, team);
    auto other = wires.host().inside([] { return Ethtool::open(); });
    ASSERT_TRUE(other);
    const IfIndex eth1{look(wires.host(), "eth1").index};
    const auto is_on = [&] {
        const auto read = other->read_features(eth1);
        return read && read->active.contains(tcp4);
    };
    std::vector<double> took;
    for (unsigned round = 1; round <= times; ++round) {
        const auto start = SteadyClock::now();
        must(wires.host(), "ethtool -K eth1 tso off");
        ASSERT_TRUE(eventually("TSO is on again", is_on));
        took.push_back(std::chrono::duration<double, std::milli>(SteadyClock::now() - start).count());
        ASSERT_TRUE(team.await_item("offload.ports.eth1.repaired", std::to_string(round)));
    }
    RecordProperty("milliseconds", static_cast<int>(median(took)));
    EXPECT_TRUE(at_most("ms since ethtool was started", took, {.promised = 100, .defect = 300}));
    EXPECT_TRUE(at_most("the longest, ms", std::ranges::max(took), {.promised = 100, .defect = 2'000}));
}

} // namespace
} // namespace teamo::test
