// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/files/device_folder.h"

#include "kernel/files/sysfs.h"

namespace teamo {

Result<DeviceFolder> find_device_folder(const Link& link, const std::string& root) {
    DeviceFolder folder{.net = root + "/sys/class/net/" + link.name, .device = {}, .bus = {}};
    if (sysfs::number(folder.net / "ifindex") != link.index.value)
        return fail(ENODEV,
                    fmt::format("/sys/class/net/{} does not show device {}", link.name, link.index.value));
    std::error_code error;
    folder.device = std::filesystem::canonical(folder.net / "device", error);
    if (error) folder.device.clear();
    folder.bus =
        folder.device.filename().string().starts_with("virtio") ? folder.device.parent_path() : folder.device;
    return folder;
}

} // namespace teamo
