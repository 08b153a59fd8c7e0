// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Folders as sysfs and /proc/irq have them; with real cards: tests/lab/tests/interrupt_cpus_test.cpp.
#include "kernel/interrupts/interrupt_cpus.h"

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

    /// The device that stands in that folder of /sys/devices has a network device.
    void network_device(const std::string& name, unsigned index, const std::string& folder) {
        file("sys/devices/" + folder + "/net/" + name + "/ifindex", std::to_string(index));
        fs::create_directories(root_ / "sys/class/net");
        fs::create_symlink("../../devices/" + folder + "/net/" + name, root_ / "sys/class/net" / name);
        fs::create_symlink("../../../" + fs::path(folder).filename().string(),
                           root_ / "sys/devices" / folder / "net" / name / "device");
    }

    /// A vector that is listed by the device in that folder, if any.
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
        const auto read = read_interrupt_cpus(link, root_);
        return read ? *read : CpuList{9999};
    }

    fs::path root_;
};

TEST_F(InterruptCpus, of_a_card_are_those_of_its_queues) {
    network_device("eth0", 2, "pci0/0000:00:02.0");
    interrupt(24, "eth0-rx-0", "3", "pci0/0000:00:02.0");
    interrupt(25, "eth0-tx-0", "1", "pci0/0000:00:02.0");
    interrupt(26, "eth0", "6", "pci0/0000:00:02.0"); // tells of the link
    interrupt(27, "eth1-rx-0", "7");                 // another one's
    EXPECT_THAT(cpus("eth0", 2), ElementsAre(1, 3));
}

TEST_F(InterruptCpus, of_a_card_with_one_vector_are_that_ones) {
    network_device("enp3s0", 4, "pci0/0000:03:00.0");
    interrupt(24, "enp3s0", "2", "pci0/0000:03:00.0");
    EXPECT_THAT(cpus("enp3s0", 4), ElementsAre(2));
}

TEST_F(InterruptCpus, are_those_of_vectors_that_somebody_handles) {
    network_device("eth0", 2, "pci0/0000:00:02.0");
    interrupt(24, "eth0-TxRx-0", "3", "pci0/0000:00:02.0");
    interrupt(25, "", "5", "pci0/0000:00:02.0");
    file("sys/devices/pci0/0000:00:02.0/msi_irqs/26", "msix"); // no such interrupt yet
    EXPECT_THAT(cpus("eth0", 2), ElementsAre(3));
}

TEST_F(InterruptCpus, do_not_count_where_none_has_come_beside_some_that_have) {
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

TEST_F(InterruptCpus, of_a_renamed_card_are_found_though_handlers_have_the_old_name) {
    network_device("lan0", 2, "pci0/0000:00:02.0");
    interrupt(24, "eth0-TxRx-0", "3", "pci0/0000:00:02.0");
    interrupt(25, "eth0", "5", "pci0/0000:00:02.0");
    EXPECT_THAT(cpus("lan0", 2), ElementsAre(3));
}

TEST_F(InterruptCpus, of_a_virtio_device_are_listed_by_its_pci_device) {
    network_device("eth0", 2, "pci0/0000:00:03.0/virtio5");
    interrupt(30, "virtio5-config", "7", "pci0/0000:00:03.0");
    interrupt(31, "virtio5-input.0", "2", "pci0/0000:00:03.0");
    interrupt(32, "virtio5-output.0", "4", "pci0/0000:00:03.0");
    EXPECT_THAT(cpus("eth0", 2), ElementsAre(2, 4));
}

TEST_F(InterruptCpus, of_a_device_without_vectors_of_its_own_are_found_by_name) {
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

TEST_F(InterruptCpus, of_ports_on_one_function_are_told_apart_by_name) {
    network_device("eth0", 2, "pci0/0000:00:02.0");
    network_device("eth1", 3, "pci0/0000:00:02.0");
    interrupt(24, "eth0-0", "1", "pci0/0000:00:02.0");
    interrupt(25, "eth1-0", "2", "pci0/0000:00:02.0");
    EXPECT_THAT(cpus("eth0", 2), ElementsAre(1));
    EXPECT_THAT(cpus("eth1", 3), ElementsAre(2));
}

TEST_F(InterruptCpus, are_those_asked_for_where_the_kernel_does_not_tell_more) {
    network_device("eth0", 2, "pci0/0000:00:02.0");
    interrupt(24, "eth0-TxRx-0", "", "pci0/0000:00:02.0");
    file("proc/irq/24/smp_affinity_list", "2-3");
    EXPECT_THAT(cpus("eth0", 2), ElementsAre(2, 3));
    fs::remove(root_ / "proc/irq/24/effective_affinity_list");
    EXPECT_THAT(cpus("eth0", 2), ElementsAre(2, 3));
}

TEST_F(InterruptCpus, are_none_of_a_device_that_is_no_hardware) {
    file("sys/devices/virtual/net/veth0/ifindex", "9");
    fs::create_directories(root_ / "sys/class/net");
    fs::create_symlink("../../devices/virtual/net/veth0", root_ / "sys/class/net/veth0");
    interrupt(24, "veth0", "1");
    EXPECT_THAT(cpus("veth0", 9), IsEmpty());
}

TEST_F(InterruptCpus, are_refused_of_another_device_of_that_name) {
    network_device("eth0", 2, "pci0/0000:00:02.0");
    Link link;
    link.name = "eth0";
    link.index = IfIndex{7};
    const auto other = read_interrupt_cpus(link, root_);
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().number, ENODEV);
}

TEST_F(InterruptCpus, of_the_machine_are_online) {
    file("sys/devices/system/cpu/online", "0-1,4");
    EXPECT_THAT(*read_online_cpus(root_), ElementsAre(0, 1, 4));
    EXPECT_THAT(*read_online_cpus(), testing::Not(IsEmpty()));
}

} // namespace
} // namespace teamo
