// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/files/device_files.h"
#include "unit/kernel/tree.h"

#include <gmock/gmock.h>

namespace teamo {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class PciLocation : public test::Tree {
protected:
    DevicePlace read(const Link& link) {
        auto place = read_device_place(link, root());
        EXPECT_TRUE(place);
        return place ? *place : DevicePlace();
    }
    void pcie(const std::string& device, const std::string& which, const std::string& speed,
              const std::string& width) {
        file(fmt::format("sys/devices/{}/{}_link_speed", device, which), speed);
        file(fmt::format("sys/devices/{}/{}_link_width", device, which), width);
    }
};

TEST_F(PciLocation, reads_card_in_slow_slot) {
    const std::string slot = "pci0000:00/0000:00:1c.4", card = slot + "/0000:03:00.1";
    const auto link = network_device("eth0", 2, card);
    file("sys/devices/" + card + "/numa_node", "1");
    pcie(card, "current", "5.0 GT/s PCIe", "4");
    pcie(card, "max", "8.0 GT/s PCIe", "8");
    pcie(slot, "max", "5.0 GT/s PCIe", "4");
    const auto place = read(link);
    EXPECT_EQ(place.address, "0000:03:00.1");
    EXPECT_THAT(place.path, ElementsAre("0000:00:1c.4"));
    EXPECT_EQ(place.node, 1);
    EXPECT_EQ(place.current, (PcieLink{.speed = 5, .width = 4}));
    EXPECT_EQ(place.card, (PcieLink{.speed = 8, .width = 8}));
    EXPECT_EQ(place.slot, (PcieLink{.speed = 5, .width = 4}));
    EXPECT_EQ(place.best(), place.current);
}

TEST_F(PciLocation, has_a_driver) {
    const std::string card = "pci0000:00/0000:03:00.0";
    const auto link = network_device("eth0", 2, card);
    EXPECT_EQ("", read_driver(link, root()));
    folder("sys/bus/pci/drivers/e1000e");
    std::filesystem::create_directory_symlink(
        "../../../bus/pci/drivers/e1000e", std::filesystem::path(root()) / "sys/devices" / card / "driver");
    EXPECT_EQ("e1000e", read_driver(link, root()));
    Link another = link;
    another.index = IfIndex{3};
    EXPECT_EQ("", read_driver(another, root())) << "the name is that of another device now";
}

TEST_F(PciLocation, tells_virtual_functions) {
    const std::string card = "pci0000:00/0000:03:00.0", guest = "pci0000:00/0000:04:00.0";
    const auto on_host = network_device("eth0", 2, card), in_guest = network_device("eth1", 3, guest);
    EXPECT_FALSE(is_virtual_function(on_host, root()));
    EXPECT_FALSE(is_virtual_function(in_guest, root()));
    folder("sys/devices/" + card + "/physfn");
    folder("sys/bus/pci/drivers/iavf");
    std::filesystem::create_directory_symlink(
        "../../../bus/pci/drivers/iavf", std::filesystem::path(root()) / "sys/devices" / guest / "driver");
    EXPECT_TRUE(is_virtual_function(on_host, root()));
    EXPECT_TRUE(is_virtual_function(in_guest, root()));
}

/// Not what the working directory has.
TEST_F(PciLocation, has_no_driver_for_a_virtual_device) {
    const auto link = network_device("veth0", 2, "virtual");
    std::filesystem::remove(std::filesystem::path(root()) / "sys/devices/virtual/net/veth0/device");
    const auto before = std::filesystem::current_path();
    folder("work");
    std::filesystem::create_directory_symlink("r8169", std::filesystem::path(root()) / "work/driver");
    std::filesystem::current_path(std::filesystem::path(root()) / "work");
    EXPECT_EQ("", read_driver(link, root()));
    std::filesystem::current_path(before);
}

TEST(PciAddress, has_a_domain_a_bus_a_device_and_a_function) {
    for (const auto* name : {"0000:03:00.0", "10000:01:00.0", "0000:ff:1f.7"})
        EXPECT_TRUE(is_pci_address(name)) << name;
    for (const auto* name : {"", "virtio0", "pci0000:00", "000:03:00.0", "0000:03:00", "0000:03:00.00",
                             "0000:0g:00.0", "0000:::::.:", "0000:03:0:.0"})
        EXPECT_FALSE(is_pci_address(name)) << name;
}

TEST(PcieSpeed, is_none_of_other_texts) {
    EXPECT_EQ(parse_pcie_speed("2.5 GT/s PCIe"), 2.5);
    EXPECT_EQ(parse_pcie_speed("8 GT/s"), 8);
    for (const auto* text :
         {"", "Unknown", "Unknown speed", "8.0", "-8.0 GT/s", "nan GT/s", "inf GT/s", "1e9 GT/s"})
        EXPECT_EQ(parse_pcie_speed(text), 0) << text;
}

TEST_F(PciLocation, limits_speed_to_slowest_bridge_above) {
    const std::string first = "pci0000:00/0000:00:01.0", second = first + "/0000:01:00.0",
                      third = second + "/0000:02:04.0", card = third + "/0000:04:00.0";
    const auto link = network_device("eth0", 2, card);
    pcie(first, "max", "8.0 GT/s PCIe", "4");
    pcie(second, "max", "16.0 GT/s PCIe", "16");
    pcie(third, "max", "16.0 GT/s PCIe", "8");
    pcie(first, "current", "2.5 GT/s PCIe", "4");
    pcie(third, "current", "8.0 GT/s PCIe", "8");
    pcie(card, "max", "8 GT/s", "8");
    const auto place = read(link);
    EXPECT_THAT(place.path, ElementsAre("0000:00:01.0", "0000:01:00.0", "0000:02:04.0"));
    EXPECT_THAT(place.above, ElementsAre(PcieLink{.speed = 2.5, .width = 4}, PcieLink{},
                                         PcieLink{.speed = 8, .width = 8}));
    EXPECT_EQ(place.slot, (PcieLink{.speed = 8, .width = 4}));
    EXPECT_EQ(place.best(), (PcieLink{.speed = 8, .width = 4}));
}

TEST_F(PciLocation, has_no_speed_without_pci_express) {
    const auto link = network_device("eth0", 2, "pci0000:00/0000:00:03.0/virtio2");
    pcie("pci0000:00/0000:00:03.0", "current", "Unknown", "0");
    pcie("pci0000:00/0000:00:03.0", "max", "Unknown", "255");
    const auto place = read(link);
    EXPECT_EQ(place.address, "0000:00:03.0");
    EXPECT_THAT(place.path, IsEmpty());
    EXPECT_EQ(place.node, -1);
    EXPECT_FALSE(place.current.is_known() || place.card.is_known() || place.slot.is_known());
    EXPECT_EQ(place.best(), PcieLink());
}

TEST_F(PciLocation, uses_address_of_card_for_subfunction) {
    const auto link = network_device("eth0", 2, "pci10000:00/10000:01:00.0/mlx5_core.sf.4");
    EXPECT_EQ(read(link).address, "10000:01:00.0");
}

TEST_F(PciLocation, reads_node_of_device_outside_pci) {
    const auto link = network_device("eth0", 2, "platform/30be0000.ethernet");
    file("sys/devices/platform/30be0000.ethernet/numa_node", "0");
    const auto place = read(link);
    EXPECT_THAT(place.address, IsEmpty());
    EXPECT_EQ(place.node, 0);
}

TEST_F(PciLocation, is_empty_for_virtual_device) {
    file("sys/devices/virtual/net/veth0/ifindex", "9");
    folder("sys/class/net");
    std::filesystem::create_directory_symlink("../../devices/virtual/net/veth0",
                                              root_ / "sys/class/net/veth0");
    Link link;
    link.name = "veth0";
    link.index = IfIndex{9};
    EXPECT_EQ(read(link), DevicePlace());
    link.index = IfIndex{10};
    EXPECT_EQ(read_device_place(link, root()).error().number, ENODEV);
}

TEST_F(PciLocation, knows_the_card_of_a_virtual_function) {
    const std::string slot = "pci0000:00/0000:00:1c.4";
    const auto own = network_device("eth0", 2, slot + "/0000:03:00.1"),
               virtual_one = network_device("eth1", 3, slot + "/0000:03:0a.2");
    std::filesystem::create_directory_symlink("../0000:03:00.1",
                                              root() + "/sys/devices/" + slot + "/0000:03:0a.2/physfn");
    EXPECT_EQ(read(own).physical, "0000:03:00.1");
    EXPECT_EQ(read(virtual_one).physical, "0000:03:00.1");
    EXPECT_EQ(read(virtual_one).address, "0000:03:0a.2");
}

TEST_F(PciLocation, is_no_card_behind_usb) {
    const auto link = network_device("eth0", 2, "pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0");
    EXPECT_EQ(read(link).address, "0000:00:14.0");
    EXPECT_EQ(read(link).physical, "");
}

TEST_F(PciLocation, subtracts_encoding_overhead_from_link_rate) {
    EXPECT_NEAR((PcieLink{.speed = 2.5, .width = 1}).mbits(), 2000, 1);
    EXPECT_NEAR((PcieLink{.speed = 8, .width = 8}).mbits(), 63015, 1);
    EXPECT_NEAR((PcieLink{.speed = 64, .width = 16}).mbits(), 968000, 1);
    EXPECT_EQ(PcieLink().mbits(), 0);
}

} // namespace
} // namespace teamo
