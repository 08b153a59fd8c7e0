// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Where /sys has a network device and the hardware under it.
#pragma once

#include "base/result.h"
#include "model/observation.h"

#include <filesystem>
#include <string>

namespace teamo {

struct DeviceFolder {
    std::filesystem::path net;    ///< /sys/class/net/NAME
    std::filesystem::path device; ///< its hardware, real path; empty: a virtual device
    /// The device on the bus: of a virtio device the one above it. What has a node, a place, vectors.
    std::filesystem::path bus;
};

/// ENODEV: the device is gone, or /sys shows another network namespace than this process's.
Result<DeviceFolder> find_device_folder(const Link& link, const std::string& root = "");

} // namespace teamo
