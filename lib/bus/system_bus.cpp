// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus/system_bus.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>

namespace teamo {
namespace {

constexpr const char* default_address = "unix:path=/run/dbus/system_bus_socket";
constexpr const char* systemd_address = "unix:path=/run/systemd/private";
constexpr std::uint64_t patience = 1'000'000, long_patience = 5'000'000; // microseconds

Result<Bus> connect(const char* address, bool is_bus, std::uint64_t timeout) {
    // Like sd_bus_open_system(), but that would not use our time limit for the first message.
    sd_bus* made = nullptr;
    if (const int error = sd_bus_new(&made); error < 0)
        return fail_errno(-error, "cannot create a D-Bus connection");
    Bus bus(made);
    for (const int step : {sd_bus_set_method_call_timeout(made, timeout), sd_bus_set_address(made, address),
                           sd_bus_set_bus_client(made, is_bus ? 1 : 0), sd_bus_start(made)})
        if (step < 0) return fail_errno(-step, "cannot connect to the system bus");
    return bus;
}

Result<Bus> connect_to_bus(std::uint64_t timeout) {
    const char* address = std::getenv("DBUS_SYSTEM_BUS_ADDRESS");
    return connect(address != nullptr ? address : default_address, /*is_bus=*/true, timeout);
}

} // namespace

Result<std::string> teamd_name(const std::string& team) {
    auto name = fmt::format("{}.{}", teamd_interface, team);
    if (sd_bus_service_name_is_valid(name.c_str()) == 0)
        return fail(EINVAL, fmt::format("{} is not a valid D-Bus name", name));
    return name;
}

Result<Bus> open_system_bus() { return connect_to_bus(patience); }

Result<Bus> open_systemd() {
    auto bus = connect(systemd_address, /*is_bus=*/false, long_patience);
    return bus ? std::move(bus) : connect_to_bus(long_patience);
}

Result<std::string> unit_path(const std::string& unit) {
    char* encoded = nullptr;
    if (const int error = sd_bus_path_encode("/org/freedesktop/systemd1/unit", unit.c_str(), &encoded);
        error < 0)
        return fail_errno(-error, unit);
    const Handle<char, ::free> path(encoded);
    return std::string(path.get());
}

} // namespace teamo
