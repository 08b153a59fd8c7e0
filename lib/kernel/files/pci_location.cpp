// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/files/pci_location.h"

#include "kernel/files/device_folder.h"
#include "kernel/files/sysfs.h"

#include <algorithm>
#include <charconv>

namespace teamo {
namespace {

namespace fs = std::filesystem;

/// "0000:03:00.0"; the domain may be longer (Intel VMD: "10000:01:00.0").
bool is_pci_address(std::string_view name) {
    const auto domain = name.find(':');
    if (domain == std::string_view::npos || domain < 4) return false;
    const auto rest = name.substr(domain + 1); // "03:00.0"
    constexpr std::string_view hex = "0123456789abcdef";
    return rest.size() == 7 && rest[2] == ':' && rest[5] == '.' &&
           name.substr(0, domain).find_first_not_of(hex) == std::string_view::npos &&
           rest.find_first_not_of("0123456789abcdef:.") == std::string_view::npos;
}

/// "8.0 GT/s PCIe", "8 GT/s" on older kernels, "Unknown".
double parse_speed(std::string_view text) {
    double speed = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), speed);
    if (error != std::errc{} || !std::string_view(rest, text.data() + text.size()).starts_with(" GT/s"))
        return 0;
    return speed > 0 && speed < 1000 ? speed : 0;
}

PcieLink read_link(const fs::path& device, const std::string& which) {
    constexpr std::int64_t most_lanes = 32; // 255: unknown (drivers/pci/pci-sysfs.c)
    const auto width = sysfs::number(device / (which + "_link_width")).value_or(0);
    return {.speed = parse_speed(sysfs::first_line(device / (which + "_link_speed"))),
            .width = width > 0 && width <= most_lanes ? static_cast<unsigned>(width) : 0};
}

} // namespace

Result<DevicePlace> read_device_place(const Link& link, const std::string& root) {
    const auto folder = find_device_folder(link, root);
    if (!folder) return tl::unexpected(folder.error());
    DevicePlace place;
    // Sub-functions and other auxiliary devices are in the folder of their card.
    auto device = folder->bus;
    while (device.has_relative_path() && !is_pci_address(device.filename().string()))
        device = device.parent_path();
    if (!device.has_relative_path()) {
        if (!folder->bus.empty())
            place.node = static_cast<int>(sysfs::number(folder->bus / "numa_node").value_or(-1));
        return place;
    }
    place.address = device.filename();
    place.node = static_cast<int>(sysfs::number(device / "numa_node").value_or(-1));
    place.current = read_link(device, "current");
    place.card = read_link(device, "max");
    for (auto bridge = device.parent_path(); is_pci_address(bridge.filename().string());
         bridge = bridge.parent_path()) {
        place.path.insert(place.path.begin(), bridge.filename().string());
        place.above.insert(place.above.begin(), read_link(bridge, "current"));
        const auto most = read_link(bridge, "max");
        if (most.is_known() && (!place.slot.is_known() || most.mbits() < place.slot.mbits()))
            place.slot = most;
    }
    return place;
}

} // namespace teamo
