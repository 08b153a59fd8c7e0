// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A pulled cable of a card: the kernel reports it up to a second late, and the daemon must be faster.
//
// lab: CarrierMonitor.* in -k 6.1 -p 2, 15 s
#include "kernel/files/files.h"
#include "lab/guest.h"
#include "lab/lab.h"
#include "support/daemon/team_under_test.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

class CarrierMonitor : public testing::Test {
protected:
    CarrierMonitor() {
        if (!is_up("true", patience)) throw SetupError("eth0 gets no link\n" + team_.log());
    }
    testing::AssertionResult is_up(const std::string& expected, milliseconds within) const {
        return becomes(expected, [&] { return team_.item("ports.eth0.link_watches.up"); }, within);
    }
    std::string losses() const { return team_.item("ports.eth0.link_watches.list.link_watch_0.down_count"); }
    /// The losses that the card's driver has seen.
    static unsigned seen() {
        return static_cast<unsigned>(
            std::stoul(read_file("/sys/class/net/eth0/carrier_down_count").value_or("0")));
    }
    /// The state that linkwatch has set and reported by netlink.
    static bool kernel_says_up() {
        return read_file("/sys/class/net/eth0/operstate").value_or("").starts_with("up");
    }
    /// Pulls the cable for half a second. On a busy machine the driver may only read the link after that, and
    /// miss the loss.
    static testing::AssertionResult flap() {
        const auto before = seen();
        return eventually(
            "the driver sees a flap",
            [before] {
                Lab::pull(0);
                Lab::plug(0);
                return static_cast<bool>(eventually("", [before] { return seen() != before; }, 1s));
            },
            patience);
    }

    TeamUnderTest team_{balanced_pair, {"-g", "--datapath", "bpf"}};
};

TEST_F(CarrierMonitor, reports_before_the_kernel) {
    // It reads the device then, and since Linux 6.8 that reading ends linkwatch's delay (rtnl_getlink).
    if (is_at_least(6, 8)) GTEST_SKIP() << "this kernel reports when the daemon has read the device";
    EXPECT_THAT(team_.log(), testing::HasSubstr("lost carriers are reported at once, by fentry programs"))
        << "Debian's kernels support fentry programs";
    // Repeat: the kernel's delay starts with the previous event, and a busy machine may delay the daemon too,
    // but not each time.
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

TEST_F(CarrierMonitor, sees_the_end_of_a_flap) {
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
    EXPECT_TRUE(stays("down", [&] { return team_.item("ports.eth0.link_watches.up") == "false"; }, 3s));
    Lab::plug(0);
    EXPECT_TRUE(is_up("true", patience));
    EXPECT_EQ(0, team_.stop());
}

} // namespace
} // namespace teamo::test
