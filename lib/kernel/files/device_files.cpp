// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/files/device_files.h"

#include "base/take_until.h"
#include "base/whole_number.h"
#include "kernel/files/files.h"

#include <fcntl.h>
#include <linux/netdevice.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace teamo {
namespace {

namespace fs = std::filesystem;

PcieLink read_link(const fs::path& device, const std::string& which) {
    constexpr std::int64_t most_lanes = 32; // 255: unknown (drivers/pci/pci-sysfs.c)
    const auto width = sysfs::number(device / (which + "_link_width")).value_or(0);
    return {.speed = parse_pcie_speed(sysfs::first_line(device / (which + "_link_speed"))),
            .width = width > 0 && width <= most_lanes ? static_cast<unsigned>(width) : 0};
}

/// DevicePlace::physical. `bus`: the device of the interface, below the PCI device or the same.
std::string physical_function(const fs::path& device, const fs::path& bus) {
    const auto is_usb = [](const fs::path& folder) { return folder.string().starts_with("usb"); };
    if (const auto below = bus.lexically_relative(device); std::ranges::any_of(below, is_usb)) return {};
    std::error_code error;
    const auto physical = fs::canonical(device / "physfn", error);
    return error ? device.filename() : physical.filename();
}

Result<UniqueFd> open_counter(const std::string& path) {
    UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return fail_errno(errno, path);
    return file;
}

Result<int> read_counter(const UniqueFd& file) {
    std::array<char, 16> text{};
    const auto length = ::pread(file.get(), text.data(), text.size(), 0);
    if (length < 0) return fail_errno(errno, "a device's carrier counter");
    std::string_view line(text.data(), static_cast<std::size_t>(length));
    const auto count = whole_number<int>(take_until(line, "\n"));
    if (!count) return fail(EINVAL, "a device's carrier counter is not a number");
    return *count;
}

} // namespace

bool is_pci_address(std::string_view name) {
    const auto domain = name.find(':');
    if (domain == std::string_view::npos || domain < 4) return false;
    const auto rest = name.substr(domain + 1); // "03:00.0"
    constexpr std::string_view hex = "0123456789abcdef";
    const auto are_hex = [&](std::string_view digits) {
        return digits.find_first_not_of(hex) == std::string_view::npos;
    };
    return rest.size() == 7 && rest[2] == ':' && rest[5] == '.' && are_hex(name.substr(0, domain)) &&
           are_hex(rest.substr(0, 2)) && are_hex(rest.substr(3, 2)) && are_hex(rest.substr(6));
}

double parse_pcie_speed(std::string_view text) {
    double speed = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), speed);
    if (error != std::errc{} || !std::string_view(rest, text.data() + text.size()).starts_with(" GT/s"))
        return 0;
    return speed > 0 && speed < 1000 ? speed : 0;
}

Result<DeviceFolder> find_device_folder(const Link& link, const std::string& root) {
    DeviceFolder folder{.net = root + "/sys/class/net/" + link.name};
    if (sysfs::number(folder.net / "ifindex") != link.index.value)
        return fail(ENODEV,
                    fmt::format("/sys/class/net/{} does not show device {}", link.name, link.index.value));
    std::error_code error;
    folder.device = fs::canonical(folder.net / "device", error);
    if (error) folder.device.clear();
    folder.bus =
        folder.device.filename().string().starts_with("virtio") ? folder.device.parent_path() : folder.device;
    return folder;
}

std::string read_driver(const Link& link, const std::string& root) {
    const auto folder = find_device_folder(link, root);
    if (!folder) return {};
    std::error_code error;
    return fs::read_symlink(folder->net / "device" / "driver", error).filename().string();
}

bool is_virtual_function(const Link& link, const std::string& root) {
    const auto folder = find_device_folder(link, root);
    if (!folder) return false;
    std::error_code error;
    return fs::exists(folder->net / "device" / "physfn", error) || read_driver(link, root).ends_with("vf");
}

Result<bool> has_random_address(const Link& link, const std::string& root) {
    return sysfs::number(TEAMO_TRY(find_device_folder(link, root)).net / "addr_assign_type") ==
           NET_ADDR_RANDOM;
}

Result<DevicePlace> read_device_place(const Link& link, const std::string& root) {
    const auto bus = TEAMO_TRY(find_device_folder(link, root)).bus;
    DevicePlace place;
    // Sub-functions and other auxiliary devices are in the folder of their card.
    auto device = bus;
    while (device.has_relative_path() && !is_pci_address(device.filename().string()))
        device = device.parent_path();
    const bool is_pci = device.has_relative_path();
    if (!is_pci) device = bus;
    if (!device.empty()) place.node = static_cast<int>(sysfs::number(device / "numa_node").value_or(-1));
    if (!is_pci) return place;
    place.address = device.filename();
    place.physical = physical_function(device, bus);
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

Result<CarrierCount> CarrierCount::open(const Link& link) {
    const auto folder = fmt::format("/sys/class/net/{}/", link.name);
    auto changes = TEAMO_TRY(open_counter(folder + "carrier_changes"));
    auto losses = TEAMO_TRY(open_counter(folder + "carrier_down_count"));
    const auto index = read_file(folder + "ifindex");
    if (!index || *index != fmt::format("{}\n", link.index.value))
        return fail(ENODEV, fmt::format("{} does not show device {}", folder, link.index.value));
    return CarrierCount(std::move(changes), std::move(losses));
}

Result<int> CarrierCount::changes() const { return read_counter(changes_); }
Result<int> CarrierCount::losses() const { return read_counter(losses_); }

} // namespace teamo
