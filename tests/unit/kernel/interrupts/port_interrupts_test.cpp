// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Trees like those of real machines. With real cards: tests/lab/tests/vectors_test.cpp.
#include "kernel/interrupts/port_interrupts.h"
#include "unit/kernel/tree.h"

#include <gmock/gmock.h>
#include <unistd.h>

namespace teamo {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
namespace fs = std::filesystem;

const std::string card = "pci0000:00/0000:00:02.0";

class PortVectors : public test::Tree {
protected:
    PortInterrupts read(const Link& link, const NetdevQueues& netdev = {}) {
        auto port = read_port_interrupts(link, netdev, root());
        EXPECT_TRUE(port) << port.error().text;
        return port ? *port : PortInterrupts();
    }

    /// "0: 24 25; 1: 26"
    static std::string groups(const PortInterrupts& port) {
        std::string text;
        for (const auto& queue : port.queues) {
            text += fmt::format("{}{}:", text.empty() ? "" : "; ", queue.queue);
            for (const auto& vector : queue.vectors)
                text += fmt::format(" {}", vector.irq);
        }
        return text;
    }
    static CpuList others(const PortInterrupts& port) {
        CpuList list;
        for (const auto& vector : port.others)
            list.push_back(vector.irq);
        return list;
    }

    /// Both directions of a queue share a NAPI, numbered from 100, with an interrupt.
    static NetdevQueues reported(const std::vector<unsigned>& irqs, std::optional<pid_t> thread = {}) {
        NetdevQueues queues;
        for (unsigned queue = 0; queue < irqs.size(); ++queue) {
            for (const bool receive : {true, false})
                queues.queues.push_back({.queue = queue, .receive = receive, .napi = 100 + queue});
            queues.napis.push_back({.id = 100 + queue, .irq = irqs[queue], .thread = thread});
        }
        return queues;
    }
};

TEST_F(PortVectors, groups_e1000e_vectors_by_name) {
    const auto link = network_device("eth0", 2, card);
    file("sys/devices/" + card + "/numa_node", "1");
    vector(24, "eth0-rx-0", card, "0-3", "2", "10,0,32,0");
    vector(25, "eth0-tx-0", card, "1", "1", "0,5,0,0");
    vector(26, "eth0", card);
    const auto port = read(link);
    EXPECT_EQ(port.source, VectorSource::names);
    EXPECT_EQ(groups(port), "0: 24 25");
    EXPECT_THAT(others(port), ElementsAre(26));
    EXPECT_EQ(port.node, 1);
    EXPECT_EQ(port.receive_queues, 1);
    EXPECT_EQ(port.transmit_queues, 1);
    EXPECT_THAT(port.xps, IsEmpty()) << "a single queue has no choice";
    EXPECT_THAT(port.rps, ElementsAre(IsEmpty()));
    const IrqVector first{.irq = 24,
                          .name = "eth0-rx-0",
                          .movable = true,
                          .affinity = {0, 1, 2, 3},
                          .effective = {2},
                          .count = 42};
    EXPECT_EQ(port.queues[0].vectors[0], first);
}

TEST_F(PortVectors, keeps_e1000e_pair_if_netdev_reports_one) {
    const auto link = network_device("eth0", 2, card);
    vector(24, "eth0-rx-0", card);
    vector(25, "eth0-tx-0", card);
    vector(26, "eth0", card);
    const auto port = read(link, reported({24}));
    EXPECT_EQ(port.source, VectorSource::netdev);
    EXPECT_EQ(groups(port), "0: 24 25");
    EXPECT_THAT(others(port), ElementsAre(26));
}

TEST_F(PortVectors, has_one_vector_per_queue_for_igb_and_ixgbe) {
    const auto link = network_device("enp1s0f1", 2, card, 4, 4);
    file("sys/class/net/enp1s0f1/queues/tx-2/xps_cpus", "00000001,00000004");
    file("sys/class/net/enp1s0f1/queues/rx-1/rps_cpus", "f0");
    for (unsigned queue = 0; queue < 4; ++queue)
        vector(40 + queue, fmt::format("enp1s0f1-TxRx-{}", queue), card, std::to_string(queue));
    vector(44, "enp1s0f1", card);
    const auto port = read(link);
    EXPECT_EQ(groups(port), "0: 40; 1: 41; 2: 42; 3: 43");
    EXPECT_THAT(others(port), ElementsAre(44));
    EXPECT_THAT(port.xps, ElementsAre(CpuList{}, CpuList{}, CpuList{2, 32}, CpuList{}));
    EXPECT_THAT(port.rps[1], ElementsAre(4, 5, 6, 7));
}

TEST_F(PortVectors, separates_idle_queues_of_virtio) {
    const auto link = network_device("eth0", 2, "pci0000:00/0000:00:03.0/virtio5", 2, 2);
    const std::string pci = "pci0000:00/0000:00:03.0";
    file("sys/devices/" + pci + "/numa_node", "0");
    vector(30, "virtio5-config", pci);
    for (unsigned queue = 0; queue < 3; ++queue) { // ethtool -L: two of three
        vector(31 + 2 * queue, fmt::format("virtio5-input.{}", queue), pci);
        vector(32 + 2 * queue, fmt::format("virtio5-output.{}", queue), pci);
    }
    const auto port = read(link);
    EXPECT_EQ(groups(port), "0: 31 32; 1: 33 34");
    EXPECT_THAT(others(port), ElementsAre(30)) << "what others may use stays where it is";
    EXPECT_EQ(port.node, 0);
}

TEST_F(PortVectors, finds_mlx5_and_ena_vectors_without_port_name) {
    const auto link = network_device("enp8s0np0", 2, card, 2, 2);
    vector(50, "mlx5_async0@pci:0000:08:00.0", card);
    vector(51, "mlx5_comp0@pci:0000:08:00.0", card);
    vector(52, "mlx5_comp1@pci:0000:08:00.0", card);
    EXPECT_EQ(groups(read(link)), "0: 51; 1: 52");
    EXPECT_EQ(groups(read(link, reported({51, 52}))), "0: 51; 1: 52");
    const std::string other = "pci0000:00/0000:00:05.0";
    const auto ena = network_device("ens5", 3, other, 2, 2);
    vector(60, "ena-mgmnt@pci:0000:00:05.0", other);
    vector(61, "ens5-Tx-Rx-0", other);
    vector(62, "ens5-Tx-Rx-1", other);
    EXPECT_EQ(groups(read(ena)), "0: 61; 1: 62");
    EXPECT_THAT(others(read(ena)), ElementsAre(60));
}

TEST_F(PortVectors, leaves_out_rdma_vectors_of_ice) {
    const auto link = network_device("eth0", 2, card, 2, 2);
    vector(50, "ice-0000:01:00.0:misc", card);
    vector(51, "ice-eth0-TxRx-0", card);
    vector(52, "ice-eth0-TxRx-1", card);
    vector(53, "irdma-ice-0000:01:00.0-AEQ", card);
    vector(54, "irdma-ice-0000:01:00.0-CEQ-0", card);
    const auto port = read(link);
    EXPECT_EQ(groups(port), "0: 51; 1: 52");
    EXPECT_THAT(others(port), ElementsAre(50)) << "the other vectors may belong to a storage device";
}

TEST_F(PortVectors, separates_ports_of_one_function_by_netdev) {
    const auto first = network_device("eth0", 2, card, 2, 2), second = network_device("eth1", 3, card, 2, 2);
    file("sys/devices/" + card + "/net/eth0/dev_port", "0");
    file("sys/devices/" + card + "/net/eth1/dev_port", "1");
    for (unsigned irq = 60; irq < 64; ++irq)
        vector(irq, fmt::format("mlx4-{}@pci:0000:01:00.0", irq - 59), card);
    EXPECT_EQ(groups(read(first)), "") << "their port is unknown";
    EXPECT_THAT(others(read(first)), IsEmpty());
    EXPECT_EQ(groups(read(first, reported({60, 61}))), "0: 60; 1: 61");
    EXPECT_EQ(groups(read(second, reported({62, 63}))), "0: 62; 1: 63");
}

TEST_F(PortVectors, ignores_ports_of_virtual_functions) {
    const auto link = network_device("eth0", 2, card, 2, 2);
    network_device("eth0r0", 3, card);
    vector(50, "mlx5_async0@pci:0000:08:00.0", card);
    vector(51, "mlx5_comp0@pci:0000:08:00.0", card);
    vector(52, "mlx5_comp1@pci:0000:08:00.0", card);
    EXPECT_EQ(groups(read(link)), "0: 51; 1: 52");
}

TEST_F(PortVectors, prefers_queue_numbers_of_netdev) {
    const auto link = network_device("eth0", 2, card, 2, 2);
    vector(40, "eth0-rx-5", card); // the driver numbers its queues differently
    vector(41, "eth0-tx-5", card);
    vector(42, "eth0-rx-6", card);
    vector(43, "eth0-tx-6", card);
    EXPECT_EQ(groups(read(link, reported({42, 40}))), "0: 42 43; 1: 40 41");
}

TEST_F(PortVectors, includes_vectors_known_only_to_netdev) {
    const auto link = network_device("eth0", 2, "pci0000:00/0000:00:02.0/mlx5_core.sf.4");
    vector(70, "mlx5_comp7@pci:0000:00:02.0"); // a sub-function has no list of its own
    EXPECT_EQ(groups(read(link)), "");
    const auto port = read(link, reported({70}));
    EXPECT_EQ(groups(port), "0: 70");
    EXPECT_EQ(port.source, VectorSource::netdev);
}

TEST_F(PortVectors, puts_vectors_of_same_name_in_one_group) {
    const auto link = network_device("eth0", 2, card, 4, 4);
    for (unsigned irq = 24; irq < 29; ++irq)
        vector(irq, "eth0", card); // atlantic
    const auto port = read(link);
    EXPECT_EQ(port.source, VectorSource::ungrouped);
    EXPECT_EQ(groups(port), "0: 24 25 26 27 28");
}

TEST_F(PortVectors, is_empty_while_port_is_down) {
    const auto link = network_device("eth0", 2, card);
    vector(24, "", card);
    file("sys/devices/" + card + "/msi_irqs/25", "msix"); // not requested yet
    const auto port = read(link);
    EXPECT_EQ(port.source, VectorSource::none);
    EXPECT_THAT(port.queues, IsEmpty());
    EXPECT_THAT(port.others, IsEmpty());
    EXPECT_EQ(port.receive_queues, 1);
}

TEST_F(PortVectors, leaves_out_vectors_of_former_name_while_port_is_down) {
    const auto link = network_device("eth0", 2, card);
    vector(24, "", card);
    vector(30, "eth0-rx-0", "pci0000:00/0000:00:05.0"); // was eth0 when it came up; renamed since
    EXPECT_EQ(groups(read(link)), "");
    EXPECT_THAT(others(read(link)), IsEmpty());
}

TEST_F(PortVectors, finds_vectors_by_name_if_device_lists_none) {
    const auto link = network_device("eth0", 2, card);
    vector(30, "eth0-rx-0");
    EXPECT_EQ(groups(read(link)), "0: 30");
}

TEST_F(PortVectors, marks_managed_vectors_as_not_movable) {
    const auto link = network_device("eth0", 2, card, 2, 2);
    vector(24, "eth0-TxRx-0", card);
    vector(25, "eth0-TxRx-1", card);
    fs::permissions(root_ / "proc/irq/25/smp_affinity_list", fs::perms{0444});
    const auto port = read(link);
    EXPECT_TRUE(port.queues[0].vectors[0].movable);
    EXPECT_FALSE(port.queues.at(1).vectors[0].movable);
}

TEST_F(PortVectors, reads_napi_thread_from_netdev) {
    const auto link = network_device("eth0", 2, card);
    vector(24, "eth0-TxRx-0", card);
    const auto thread = read(link, reported({24}, ::getpid())).queues.at(0).thread;
    ASSERT_TRUE(thread);
    EXPECT_EQ(thread->pid, ::getpid());
    EXPECT_THAT(thread->affinity, testing::Not(IsEmpty()));
}

TEST_F(PortVectors, finds_napi_threads_by_name) {
    const auto link = network_device("eth0", 2, card, 2, 2);
    vector(24, "eth0-TxRx-0", card);
    vector(25, "eth0-TxRx-1", card);
    // In the order of their NAPIs. The processes are this test and its parent.
    file(fmt::format("proc/{}/comm", ::getpid()), "napi/eth0-9");
    file(fmt::format("proc/{}/comm", ::getppid()), "napi/eth0-10");
    file("proc/1/comm", "napi/eth0-0"); // of a transmit queue of virtio
    file("proc/self/comm", "napi/eth0-11");
    EXPECT_FALSE(read(link).queues.at(0).thread) << "not switched on";
    EXPECT_FALSE(read(link).hidden_threads);
    file("sys/class/net/eth0/threaded", "1");
    const auto port = read(link);
    ASSERT_TRUE(port.queues.at(0).thread && port.queues.at(1).thread);
    EXPECT_EQ(port.queues[0].thread->pid, ::getpid());
    EXPECT_EQ(port.queues[1].thread->pid, ::getppid());
    EXPECT_FALSE(port.hidden_threads);
    file("sys/devices/" + card + "/msi_irqs/26", "msix");
    file("proc/1/comm", "napi/eth0-12");
    EXPECT_FALSE(read(link).queues.at(0).thread) << "the threads cannot be assigned to queues";
    for (const auto pid : {::getpid(), ::getppid(), 1})
        remove(fmt::format("proc/{}", pid));
    EXPECT_TRUE(read(link).hidden_threads) << "as by ProtectProc=invisible";
}

TEST_F(PortVectors, rejects_other_device_of_same_name) {
    auto link = network_device("eth0", 2, card);
    link.index = IfIndex{7};
    EXPECT_EQ(read_port_interrupts(link, {}, root()).error().number, ENODEV);
}

TEST_F(PortVectors, finds_thread_of_each_separate_igb_queue) {
    const auto link = network_device("eth0", 2, card, 2, 1);
    file("sys/class/net/eth0/threaded", "1");
    vector(31, "eth0-rx-0", card);
    vector(32, "eth0-rx-1", card);
    vector(33, "eth0-tx-0", card);
    vector(34, "eth0", card);
    // The processes are this test, its parent and process 1.
    file(fmt::format("proc/{}/comm", ::getpid()), "napi/eth0-9");
    file(fmt::format("proc/{}/comm", ::getppid()), "napi/eth0-10");
    file("proc/1/comm", "napi/eth0-11");
    const auto port = read(link);
    ASSERT_EQ(groups(port), "0: 31 33; 1: 32");
    ASSERT_TRUE(port.queues[0].thread && port.queues[0].second_thread && port.queues[1].thread);
    EXPECT_EQ(port.queues[0].thread->pid, ::getpid());
    EXPECT_EQ(port.queues[0].second_thread->pid, 1);
    EXPECT_EQ(port.queues[1].thread->pid, ::getppid());
    EXPECT_FALSE(port.queues[1].second_thread);
}

TEST_F(PortVectors, finds_virtio_threads_with_unused_pairs) {
    const std::string pci = "pci0000:00/0000:00:03.0";
    const auto link = network_device("eth0", 2, pci + "/virtio5", 1, 1);
    file("sys/class/net/eth0/threaded", "1");
    for (unsigned queue = 0; queue < 2; ++queue) { // ethtool -L: one of two
        vector(31 + 2 * queue, fmt::format("virtio5-input.{}", queue), pci);
        vector(32 + 2 * queue, fmt::format("virtio5-output.{}", queue), pci);
    }
    file(fmt::format("proc/{}/comm", ::getpid()), "napi/eth0-9");
    file(fmt::format("proc/{}/comm", ::getppid()), "napi/eth0-10");
    const auto port = read(link);
    ASSERT_EQ(groups(port), "0: 31 32");
    ASSERT_TRUE(port.queues[0].thread);
    EXPECT_EQ(port.queues[0].thread->pid, ::getpid());
    EXPECT_FALSE(port.queues[0].second_thread) << "that of the idle pair";
}

class PortVectorsRefresh : public PortVectors {
protected:
    PortVectorsRefresh() : link_(network_device("eth0", 2, card)) {
        vector(24, "eth0-rx-0", card);
        vector(25, "eth0", card);
        port_ = read(link_);
    }
    Link link_;
    PortInterrupts port_;
};

TEST_F(PortVectorsRefresh, updates_affinities_and_counts) {
    vector(24, "eth0-rx-0", card, "3", "3", "1,0,0,9");
    vector(25, "eth0", card, "2");
    ASSERT_TRUE(refresh(port_, root()));
    EXPECT_EQ(port_, read(link_));
    EXPECT_EQ(port_.queues[0].vectors[0].count, 10);
    EXPECT_THAT(port_.others[0].affinity, ElementsAre(2));
}

TEST_F(PortVectorsRefresh, detects_removed_and_reassigned_vectors) {
    remove("proc/irq/25/eth0");
    EXPECT_EQ(refresh(port_, root()).error().number, ESTALE);
    remove("proc/irq/25");
    EXPECT_EQ(refresh(port_, root()).error().number, ENOENT);
}

TEST_F(PortVectorsRefresh, detects_ended_thread) {
    port_.queues[0].thread = NapiThread{.pid = ::getpid(), .affinity = {}};
    ASSERT_TRUE(refresh(port_, root()));
    EXPECT_THAT(port_.queues[0].thread->affinity, testing::Not(IsEmpty()));
    port_.queues[0].thread->pid = 0x3fffffff; // beyond pid_max
    EXPECT_EQ(refresh(port_, root()).error().number, ESTALE);
}

} // namespace
} // namespace teamo
