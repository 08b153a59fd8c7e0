// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Names used by drivers (Linux 6.12 to 7.3). With a real card: tests/lab/tests/vectors_test.cpp.
#include "kernel/ethtool/queue_statistics.h"

#include <gmock/gmock.h>

namespace teamo {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::size_t> found(const std::vector<std::string>& names, unsigned queues) {
    return find_queue_packets(names, queues);
}

TEST(QueueStatistics, recognises_names_of_drivers) {
    EXPECT_THAT(found({"rx_packets", "tx_queue_0_packets", "tx_queue_1_packets", "rx_queue_0_packets",
                       "rx_queue_0_bytes", "rx_queue_0_drops", "rx_queue_0_csum_err", "rx_queue_1_packets",
                       "rx_queue_1_bytes"},
                      2),
                ElementsAre(3, 7)); // igb
    EXPECT_THAT(found({"tx-0.packets", "tx-1.packets", "rx-0.packets", "rx-0.bytes", "rx-1.packets"}, 2),
                ElementsAre(2, 4)); // i40e
    EXPECT_THAT(
        found({"rx_prio0_packets", "rx_prio1_packets", "rx0_packets", "rx0_xdp_drop", "rx1_packets"}, 2),
        ElementsAre(2, 4)); // mlx5
    EXPECT_THAT(found({"[0]: rx_ucast_packets", "[0]: rx_mcast_packets", "[0]: tx_ucast_packets",
                       "[1]: rx_ucast_packets", "[1]: rx_mcast_packets"},
                      2),
                ElementsAre(0, 3)); // bnxt
    EXPECT_THAT(found({"queue_0_tx_cnt", "queue_1_tx_cnt", "queue_0_rx_cnt", "queue_0_rx_bytes",
                       "queue_0_rx_bad_csum", "queue_1_rx_cnt"},
                      2),
                ElementsAre(2, 5)); // ena
    EXPECT_THAT(found({"rx0_packets", "rx0_xdp_packets", "rx1_packets", "rx1_xdp_packets"}, 2),
                ElementsAre(0, 2));
}

TEST(QueueStatistics, needs_counter_for_every_queue) {
    EXPECT_THAT(found({"rx_queue_0_packets", "rx_queue_2_packets"}, 3), IsEmpty());
    EXPECT_THAT(found({"rx_queue_0_packets"}, 2), IsEmpty());
    EXPECT_THAT(found({"rx_64_byte_packets", "rx_65_to_127_byte_packets"}, 1), IsEmpty());
    EXPECT_THAT(found({"rx_99999999999999999999_packets", "rx_", "", "#"}, 1), IsEmpty());
    EXPECT_THAT(found({}, 4), IsEmpty());
    EXPECT_THAT(found({"rx0_packets"}, 0), IsEmpty());
}

TEST(QueueStatistics, ignores_unused_queues) {
    EXPECT_THAT(found({"rx0_packets", "rx1_packets", "rx2_packets", "rx3_packets"}, 2), ElementsAre(0, 1));
}

TEST(QueueStatistics, fails_for_missing_device) {
    EXPECT_EQ(ENODEV, read_queue_packets("no-such-device", 2).error().number);
}

} // namespace
} // namespace teamo
