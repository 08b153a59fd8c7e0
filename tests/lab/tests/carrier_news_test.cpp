// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A card's cable is pulled: the kernel tells within a second, the daemon must not wait for that.
//
// lab: CarrierMonitor.* in -k 6.1 -p 2, 15 s
#include "kernel/files/files.h"
#include "lab/lab.h"
#include "support/daemon/team_under_test.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

constexpr milliseconds patience = 15s; // an emulator's seconds

constexpr const char* config =
    R"({"device": "team0", "runner": {"name": "loadbalance"}, "ports": {"eth0": {}, "eth1": {}}})";

class CarrierMonitor : public testing::Test {
protected:
    CarrierMonitor() {
        if (!is_up("true", patience)) throw SetupError("eth0 gets no link\n" + team_.log());
    }
    testing::AssertionResult is_up(const std::string& expected, milliseconds within) const {
        return becomes(
            expected, [&] { return team_.item("ports.eth0.link_watches.up"); }, within);
    }
    std::string losses() const { return team_.item("ports.eth0.link_watches.list.link_watch_0.down_count"); }
    /// Those that the driver has seen.
    static unsigned seen() {
        return static_cast<unsigned>(
            std::stoul(read_file("/sys/class/net/eth0/carrier_down_count").value_or("0")));
    }
    /// What linkwatch has made of the carrier, and told by netlink.
    static bool kernel_says_up() {
        return read_file("/sys/class/net/eth0/operstate").value_or("").starts_with("up");
    }
    /// A cable that is pulled for half a second: on a busy machine the driver may look when it is plugged in
    /// again, and then there was none.
    static testing::AssertionResult flap() {
        const auto before = seen();
        return eventually(
            "the driver sees a flap",
            [before] {
                Lab::pull(0);
                Lab::plug(0);
                return static_cast<bool>(eventually(
                    "", [before] { return seen() != before; }, 1s));
            },
            patience);
    }

    TeamUnderTest team_{config, {"-g", "--datapath", "bpf"}};
};

TEST_F(CarrierMonitor, come_before_the_kernels_own) {
    EXPECT_THAT(team_.log(), testing::HasSubstr("lost carriers are detected by programs"))
        << "Debian's kernels let themselves be traced";
    // One after the other: the kernel's second begins with the news before. A busy machine may take that
    // second from the daemon too, but not each time.
    constexpr int rounds = 6;
    int earlier = 0;
    for (int round = 0; round < rounds; ++round) {
        Lab::pull(0);
        ASSERT_TRUE(is_up("false", patience)) << "round " << round;
        if (kernel_says_up()) ++earlier;
        Lab::plug(0);
        ASSERT_TRUE(is_up("true", patience));
    }
    EXPECT_GE(earlier, rounds / 2);
    EXPECT_EQ(0, team_.stop());
}

TEST_F(CarrierMonitor, of_a_flap_end_as_it_ends) {
    const auto before = seen();
    for (int round = 1; round <= 4; ++round) {
        ASSERT_TRUE(flap());
        EXPECT_TRUE(eventually(
            "each is counted", [&] { return losses() == std::to_string(seen() - before); }, patience))
            << losses() << " of " << seen() - before;
        EXPECT_TRUE(is_up("true", patience));
    }
    Lab::pull(0);
    Lab::plug(0);
    Lab::pull(0);
    EXPECT_TRUE(is_up("false", patience));
    EXPECT_TRUE(stays(
        "down", [&] { return team_.item("ports.eth0.link_watches.up") == "false"; }, 3s));
    Lab::plug(0);
    EXPECT_TRUE(is_up("true", patience));
    EXPECT_EQ(0, team_.stop());
}

} // namespace
} // namespace teamo::test
