// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Folders like those of sysfs and /proc/irq. With real cards: tests/lab/tests/interrupt_cpus_test.cpp.
#include "kernel/interrupts/port_interrupts.h"

#include "kernel/cpus/cpus.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace teamo {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class InterruptCpus : public testing::Test {
protected:
    InterruptCpus() {
        std::string name = fs::temp_directory_path() / "teamo-irq-XXXXXX";
        root_ = mkdtemp(name.data());
    }
    ~InterruptCpus() override { fs::remove_all(root_); }

    void file(const std::string& path, const std::string& text) {
        fs::create_directories((root_ / path).parent_path());
        std::ofstream(root_ / path) << text << '\n';
    }

    /// Adds a network device to the device in that folder of /sys/devices.
    void network_device(const std::string& name, unsigned index, const std::string& folder) {
        file("sys/devices/" + folder + "/net/" + name + "/ifindex", std::to_string(index));
        fs::create_directories(root_ / "sys/class/net");
        fs::create_symlink("../../devices/" + folder + "/net/" + name, root_ / "sys/class/net" / name);
        fs::create_symlink("../../../" + fs::path(folder).filename().string(),
                           root_ / "sys/devices" / folder / "net" / name / "device");
    }

    /// Adds a vector, listed by the device in that folder if any.
    void interrupt(unsigned number, const std::string& handler, const std::string& effective,
                   const std::string& device = "") {
        const auto folder = fmt::format("proc/irq/{}/", number);
        file(folder + "smp_affinity_list", "0-7");
        file(folder + "effective_affinity_list", effective);
        if (!handler.empty()) fs::create_directories(root_ / (folder + handler));
        if (!device.empty()) file(fmt::format("sys/devices/{}/msi_irqs/{}", device, number), "msix");
    }

    CpuList cpus(const std::string& name, unsigned index) {
        Link link;
        link.name = name;
        link.index = IfIndex{index};
        const auto read = read_port_interrupts(link, {}, root_);
        return read ? interrupt_cpus(*read) : CpuList{9999};
    }

    fs::path root_;
};

TEST_F(InterruptCpus, reads_cpus_of_queue_vectors) {
    network_device("eth0", 2, "pci0/0000:00:02.0");
    interrupt(24, "eth0-rx-0", "3", "pci0/0000:00:02.0");
    interrupt(25, "eth0-tx-0", "1", "pci0/0000:00:02.0");
    interrupt(26, "eth0", "6", "pci0/0000:00:02.0"); // link changes
    interrupt(27, "eth1-rx-0", "7");                 // of another device
    EXPECT_THAT(cpus("eth0", 2), ElementsAre(1, 3));
}

TEST_F(InterruptCpus, reads_cpu_of_single_vector) {
    network_device("enp3s0", 4, "pci0/0000:03:00.0");
    interrupt(24, "enp3s0", "2", "pci0/0000:03:00.0");
    EXPECT_THAT(cpus("enp3s0", 4), ElementsAre(2));
}

TEST_F(InterruptCpus, ignores_vectors_without_handler) {
    network_device("eth0", 2, "pci0/0000:00:02.0");
    interrupt(24, "eth0-TxRx-0", "3", "pci0/0000:00:02.0");
    interrupt(25, "", "5", "pci0/0000:00:02.0");
    file("sys/devices/pci0/0000:00:02.0/msi_irqs/26", "msix"); // no such interrupt yet
    EXPECT_THAT(cpus("eth0", 2), ElementsAre(3));
}

TEST_F(InterruptCpus, ignores_unused_vectors_beside_used_ones) {
    network_device("eth0", 2, "pci0/0000:00:02.0");
    interrupt(24, "eth0-TxRx-0", "3", "pci0/0000:00:02.0");
    interrupt(25, "eth0-TxRx-1", "5", "pci0/0000:00:02.0");
    file("sys/kernel/irq/24/per_cpu_count", "0,0,0");
    file("sys/kernel/irq/25/per_cpu_count", "0,0,0");
    EXPECT_THAT(cpus("eth0", 2), ElementsAre(3, 5)) << "none has come yet";
    file("sys/kernel/irq/25/per_cpu_count", "0,10,0");
    EXPECT_THAT(cpus("eth0", 2), ElementsAre(5));
    file("sys/kernel/irq/24/per_cpu_count", "0,0,1");
    EXPECT_THAT(cpus("eth0", 2), ElementsAre(3, 5));
}

TEST_F(InterruptCpus, finds_vectors_of_renamed_card) {
    network_device("lan0", 2, "pci0/0000:00:02.0");
    interrupt(24, "eth0-TxRx-0", "3", "pci0/0000:00:02.0");
    interrupt(25, "eth0", "5", "pci0/0000:00:02.0");
    EXPECT_THAT(cpus("lan0", 2), ElementsAre(3));
}

TEST_F(InterruptCpus, finds_virtio_vectors_by_pci_device) {
    network_device("eth0", 2, "pci0/0000:00:03.0/virtio5");
    interrupt(30, "virtio5-config", "7", "pci0/0000:00:03.0");
    interrupt(31, "virtio5-input.0", "2", "pci0/0000:00:03.0");
    interrupt(32, "virtio5-output.0", "4", "pci0/0000:00:03.0");
    EXPECT_THAT(cpus("eth0", 2), ElementsAre(2, 4));
}

TEST_F(InterruptCpus, finds_interrupt_by_name_without_msi) {
    network_device("eth0", 2, "platform/virtio1");
    network_device("eth1", 3, "pci0/0000:00:04.0");
    interrupt(5, "virtio1", "1");
    fs::create_directories(root_ / "proc/irq/5/virtio10"); // shares the line
    interrupt(6, "virtio10", "6");
    interrupt(7, "eth1", "2");
    interrupt(8, "eth10", "3");
    EXPECT_THAT(cpus("eth0", 2), ElementsAre(1));
    EXPECT_THAT(cpus("eth1", 3), ElementsAre(2));
}

TEST_F(InterruptCpus, separates_ports_of_one_function_by_name) {
    network_device("eth0", 2, "pci0/0000:00:02.0");
    network_device("eth1", 3, "pci0/0000:00:02.0");
    interrupt(24, "eth0-0", "1", "pci0/0000:00:02.0");
    interrupt(25, "eth1-0", "2", "pci0/0000:00:02.0");
    EXPECT_THAT(cpus("eth0", 2), ElementsAre(1));
    EXPECT_THAT(cpus("eth1", 3), ElementsAre(2));
}

TEST_F(InterruptCpus, uses_affinity_if_effective_affinity_is_unknown) {
    network_device("eth0", 2, "pci0/0000:00:02.0");
    interrupt(24, "eth0-TxRx-0", "", "pci0/0000:00:02.0");
    file("proc/irq/24/smp_affinity_list", "2-3");
    EXPECT_THAT(cpus("eth0", 2), ElementsAre(2, 3));
    fs::remove(root_ / "proc/irq/24/effective_affinity_list");
    EXPECT_THAT(cpus("eth0", 2), ElementsAre(2, 3));
}

TEST_F(InterruptCpus, is_empty_for_virtual_device) {
    file("sys/devices/virtual/net/veth0/ifindex", "9");
    fs::create_directories(root_ / "sys/class/net");
    fs::create_symlink("../../devices/virtual/net/veth0", root_ / "sys/class/net/veth0");
    interrupt(24, "veth0", "1");
    EXPECT_THAT(cpus("veth0", 9), IsEmpty());
}

TEST_F(InterruptCpus, rejects_other_device_of_same_name) {
    network_device("eth0", 2, "pci0/0000:00:02.0");
    Link link;
    link.name = "eth0";
    link.index = IfIndex{7};
    const auto other = read_port_interrupts(link, {}, root_);
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().number, ENODEV);
}

TEST_F(InterruptCpus, reads_online_cpus) {
    file("sys/devices/system/cpu/online", "0-1,4");
    EXPECT_THAT(*read_online_cpus(root_), ElementsAre(0, 1, 4));
    EXPECT_THAT(*read_online_cpus(), testing::Not(IsEmpty()));
}

} // namespace
} // namespace teamo
