// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What /sys shows of a network device: its folders, its place on the PCI bus, and its carrier counters.
// All return ENODEV if the device is gone, or if /sys shows another network namespace than this process's, as
// after nsenter(1).
#pragma once

#include "base/handle.h"
#include "base/result.h"
#include "model/machine.h"
#include "model/observation.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace teamo {

struct DeviceFolder {
    std::filesystem::path net;      ///< /sys/class/net/NAME
    std::filesystem::path device{}; ///< its hardware, canonical path; empty: a virtual device
    /// The device on the bus (for virtio the parent), which has the NUMA node, the PCI location and the
    /// vectors.
    std::filesystem::path bus{};
};
/// `root`: the directory that contains sys.
Result<DeviceFolder> find_device_folder(const Link& link, const std::string& root = "");

/// The driver of its hardware: "e1000e", "virtio_net". Empty for a virtual device, and if it cannot be read.
std::string read_driver(const Link& link, const std::string& root = "");

/// A function that a card lends (SR-IOV): on the host by its physfn, in a guest by a driver for such
/// functions alone (iavf, ixgbevf, igbvf), where those of mlx5 and others cannot be told from a whole card.
bool is_virtual_function(const Link& link, const std::string& root = "");

/// The kernel made its address up (NET_ADDR_RANDOM); nobody has set one since.
Result<bool> has_random_address(const Link& link, const std::string& root = "");

/// Empty for a virtual device, which is not a failure.
Result<DevicePlace> read_device_place(const Link& link, const std::string& root = "");

/// "0000:03:00.0"; the domain may be longer (Intel VMD: "10000:01:00.0").
bool is_pci_address(std::string_view name);
/// GT/s: 8 of "8.0 GT/s PCIe", also of "8 GT/s" as older kernels write it; 0 of "Unknown".
double parse_pcie_speed(std::string_view text);

/// Counts carrier changes without waiting for RTNL, which the removal of a namespace can hold for seconds.
/// Other interfaces wait for it: RTM_GETLINK, ETHTOOL_GLINK, and from kernel 6.8 on
/// /sys/class/net/DEVICE/carrier (net/core/net-sysfs.c: carrier_show). SIOCGIFFLAGS and `operstate` do not,
/// but show what linkwatch knows, which is late. `carrier_changes` is the sum of two counters that
/// netif_carrier_off() and netif_carrier_on() themselves increment; `carrier_down_count` is the first of them
/// (since kernel 4.16).
class CarrierCount {
public:
    static Result<CarrierCount> open(const Link& link);

    /// Losses and returns together.
    Result<int> changes() const;
    /// Losses alone.
    Result<int> losses() const;

private:
    CarrierCount(UniqueFd changes, UniqueFd losses)
        : changes_(std::move(changes)), losses_(std::move(losses)) {}
    UniqueFd changes_, losses_; ///< stay valid when the device is renamed
};

} // namespace teamo
