// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Names used by drivers. The names of a port are read together, because one helps to interpret another.
#include "kernel/interrupts/vector_names.h"

#include <gmock/gmock.h>

namespace teamo {

inline void PrintTo(const VectorRole& role, std::ostream* out) {
    *out << (role.kind == VectorRole::Kind::queue   ? "queue "
             : role.kind == VectorRole::Kind::other ? "other "
                                                    : "unknown ")
         << role.queue;
}

namespace {

using testing::ElementsAre;

constexpr auto other = VectorRole{.kind = VectorRole::Kind::other};
constexpr auto foreign = VectorRole{.kind = VectorRole::Kind::foreign};
constexpr auto unknown = VectorRole{.kind = VectorRole::Kind::unknown};

VectorRole queue(unsigned number) { return {.kind = VectorRole::Kind::queue, .queue = number}; }

std::vector<VectorRole> roles(const std::vector<std::string>& handlers, const std::string& device = "eth0") {
    std::vector<IrqVector> vectors;
    for (const auto& handler : handlers)
        vectors.emplace_back().name = handler;
    return roles_of(vectors, std::vector{device});
}

TEST(VectorNames, recognises_intel_drivers) {
    EXPECT_THAT(roles({"eth0-rx-0", "eth0-tx-0", "eth0"}), ElementsAre(queue(0), queue(0), other))
        << "e1000e";
    EXPECT_THAT(roles({"eth0", "eth0-TxRx-0", "eth0-TxRx-1", "eth0-TxRx-11"}),
                ElementsAre(other, queue(0), queue(1), queue(11)))
        << "igb, igc, ixgbe";
    EXPECT_THAT(roles({"eth0", "eth0-rx-0", "eth0-rx-1", "eth0-tx-0", "eth0-tx-1"}),
                ElementsAre(other, queue(0), queue(1), queue(0), queue(1)))
        << "igb with queues apart";
    EXPECT_THAT(roles({"i40e-0000:01:00.0:misc", "i40e-eth0-TxRx-0", "i40e-eth0-TxRx-1",
                       "i40e-0000:01:00.0:fdir-TxRx-0"}),
                ElementsAre(other, queue(0), queue(1), other));
    EXPECT_THAT(roles({"ice-0000:01:00.0:misc", "ice-eth0-TxRx-0", "ice-eth0-TxRx-1",
                       "irdma-ice-0000:01:00.0-CEQ-0"}),
                ElementsAre(other, queue(0), queue(1), foreign));
    EXPECT_THAT(roles({"iavf-0000:01:02.0:mbx", "iavf-eth0-TxRx-0"}), ElementsAre(other, queue(0)));
    EXPECT_THAT(roles({"idpf-0000:01:00.0-Mailbox-0", "idpf-eth0-TxRx-0"}), ElementsAre(other, queue(0)));
}

TEST(VectorNames, recognises_other_drivers) {
    EXPECT_THAT(roles({"eth0-TxRx-0", "eth0-TxRx-1", "bnxt_re-nq-0"}), testing::Contains(queue(1))) << "bnxt";
    EXPECT_THAT(roles({"eth0", "eth0-fp-0", "eth0-fp-1"}), ElementsAre(other, queue(0), queue(1))) << "bnx2x";
    EXPECT_THAT(roles({"eth0-tx-0", "eth0-rx-1", "eth0-rx-2"}), ElementsAre(queue(0), queue(0), queue(1)))
        << "tg3 counts its receiving ones from 1";
    EXPECT_THAT(roles({"mlx5_async0@pci:0000:08:00.0", "mlx5_comp0@pci:0000:08:00.0",
                       "mlx5_comp12@pci:0000:08:00.0"}),
                ElementsAre(other, queue(0), queue(12)));
    EXPECT_THAT(roles({"mlx5_pages_eq@pci:0000:08:00.0", "mlx5_cmd_eq@pci:0000:08:00.0"}),
                ElementsAre(other, other));
    EXPECT_THAT(roles({"mlx4-async@pci:0000:03:00.0", "mlx4-0@0000:03:00.0", "mlx4-1@0000:03:00.0"}),
                ElementsAre(other, queue(0), queue(1)));
    EXPECT_THAT(roles({"hns3-0000:bd:00.0-TxRx-0", "hclge-misc-0000:bd:00.0"}), ElementsAre(queue(0), other));
    EXPECT_THAT(roles({"nfp-0000:04:00.0-lsc", "nfp-eth0-rxtx-0", "nfp-eth0-rxtx-1"}),
                ElementsAre(other, queue(0), queue(1)));
    EXPECT_THAT(roles({"eth0-0", "eth0-1"}), ElementsAre(queue(0), queue(1))) << "sfc, r8125";
    EXPECT_THAT(roles({"eth0_rxq0", "eth0_txq0", "eth0_rxq1"}), ElementsAre(queue(0), queue(0), queue(1)))
        << "hinic";
    EXPECT_THAT(roles({"eth0-q0", "eth0-q1"}), ElementsAre(queue(0), queue(1))) << "be2net";
    EXPECT_THAT(roles({"eth0:mac", "eth0:rx-0", "eth0:tx-0"}), ElementsAre(unknown, queue(0), queue(0)))
        << "stmmac";
    EXPECT_THAT(roles({"eth0", "eth0", "eth0"}), ElementsAre(unknown, unknown, unknown)) << "atlantic";
    EXPECT_THAT(roles({"eth0"}), ElementsAre(unknown)) << "r8169";
}

TEST(VectorNames, recognises_cloud_and_virtual_drivers) {
    EXPECT_THAT(roles({"ena-mgmnt@pci:0000:00:05.0", "eth0-Tx-Rx-0", "eth0-Tx-Rx-1"}),
                ElementsAre(other, queue(0), queue(1)));
    EXPECT_THAT(roles({"mana_hwc@pci:7870:00:00.0", "mana_q0@pci:7870:00:00.0", "mana_q1@pci:7870:00:00.0"}),
                ElementsAre(other, queue(0), queue(1)));
    EXPECT_THAT(roles({"virtio5-config", "virtio5-input.0", "virtio5-output.0", "virtio5-input.1",
                       "virtio5-output.1", "virtio5-control"},
                      "virtio5"),
                ElementsAre(other, queue(0), queue(0), queue(1), queue(1), other));
    EXPECT_THAT(roles({"virtio5-config", "virtio5-virtqueues"}, "virtio5"), ElementsAre(other, unknown));
    EXPECT_THAT(roles({"eth0-rxtx-0", "eth0-rxtx-1", "eth0-event-2"}), ElementsAre(queue(0), queue(1), other))
        << "vmxnet3";
}

TEST(VectorNames, pairs_lower_and_upper_half_of_gve) {
    EXPECT_THAT(roles({"gve-mgmnt@pci:0000:00:04.0", "gve-ntfy-blk0@pci:0000:00:04.0",
                       "gve-ntfy-blk1@pci:0000:00:04.0", "gve-ntfy-blk2@pci:0000:00:04.0",
                       "gve-ntfy-blk3@pci:0000:00:04.0"}),
                ElementsAre(other, queue(0), queue(1), queue(0), queue(1)));
    EXPECT_THAT(roles({"eth0-mgmnt", "eth0-ntfy-block.0", "eth0-ntfy-block.1"}),
                ElementsAre(other, queue(0), queue(0)));
}

TEST(VectorNames, ignores_words_in_device_name) {
    EXPECT_THAT(roles({"rx-1"}, "rx-1"), ElementsAre(unknown));
    EXPECT_THAT(roles({"event0-rx-0", "event0-rx-1"}, "event0"), ElementsAre(queue(0), queue(1)));
    EXPECT_THAT(roles({"ice-misc3-TxRx-0"}, "misc3"), ElementsAre(queue(0)));
    EXPECT_THAT(roles({"lan7-rx-0", "lan7"}, "eth0"), ElementsAre(queue(0), other)) << "renamed";
    EXPECT_THAT(roles({"enp3s0f1"}, "eth0"), ElementsAre(unknown));
    EXPECT_THAT(roles({"eth0-mux-1", "eth0-mux-2"}), ElementsAre(queue(0), queue(1)))
        << "numbers all the same";
}

TEST(VectorNames, accepts_any_text) {
    EXPECT_THAT(roles({"", "-", "7", "@", "eth0-rx-99999999999", "eth0-TxRx-"}),
                ElementsAre(unknown, unknown, unknown, unknown, unknown, unknown));
    EXPECT_THAT(roles({}), testing::IsEmpty());
}

TEST(VectorNames, finds_napi_number_in_name_of_thread) {
    EXPECT_EQ(napi_of_thread("napi/eth0-8197", "eth0"), 8197U);
    EXPECT_EQ(napi_of_thread("napi/wan-1-33", "wan-1"), 33U);
    for (const auto* command :
         {"napi/eth0-0", "napi/eth1-8197", "napi/eth0-", "napi/eth0-8197x", "eth0-8197", ""})
        EXPECT_EQ(napi_of_thread(command, "eth0"), std::nullopt) << command;
}

TEST(VectorNames, matches_device_name_up_to_separator) {
    EXPECT_TRUE(is_named_after("eth0", "eth0"));
    EXPECT_TRUE(is_named_after("eth0-rx-0", "eth0"));
    EXPECT_TRUE(is_named_after("virtio1-input.0", "virtio1"));
    EXPECT_FALSE(is_named_after("eth01", "eth0"));
    EXPECT_FALSE(is_named_after("eth0", ""));
}

} // namespace
} // namespace teamo
