// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.h"
#include "model/machine.h"
#include "model/observation.h"

#include <string>

namespace teamo {

/// From sysfs. Empty for a virtual device, which is not a failure. ENODEV: the device is gone, or /sys shows
/// another network namespace than this process's. `root`: the directory that contains sys.
Result<DevicePlace> read_device_place(const Link& link, const std::string& root = "");

} // namespace teamo
