// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The folders of a network device and of its hardware in /sys.
#pragma once

#include "base/result.h"
#include "model/observation.h"

#include <filesystem>
#include <string>

namespace teamo {

struct DeviceFolder {
    std::filesystem::path net;    ///< /sys/class/net/NAME
    std::filesystem::path device; ///< its hardware, canonical path; empty: a virtual device
    /// The device on the bus (for virtio the parent), which has the NUMA node, the PCI location and the
    /// vectors.
    std::filesystem::path bus;
};

/// ENODEV: the device is gone, or /sys shows another network namespace than this process's.
Result<DeviceFolder> find_device_folder(const Link& link, const std::string& root = "");

} // namespace teamo
