// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus/system_bus.h"

#include "base/clock.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>

namespace teamo {
namespace {

constexpr const char* default_address = "unix:path=/run/dbus/system_bus_socket";
constexpr const char* systemd_address = "unix:path=/run/systemd/private";
constexpr std::chrono::seconds call_patience{1}, systemd_patience{5};

/// sd_bus_call() waits for the handshake without a limit of ours.
Result<Bus> when_ready(Result<Bus> begun, std::chrono::seconds patience) {
    auto bus = TEAMO_TRY(std::move(begun));
    const auto until = Clock::now() + patience;
    for (;;) {
        int step = sd_bus_is_ready(bus.get());
        if (step > 0) return bus;
        if (step == 0) step = sd_bus_process(bus.get(), nullptr);
        if (step < 0) return fail_errno(-step, "cannot connect to the system bus");
        if (step > 0) continue;
        const auto left = std::chrono::duration_cast<std::chrono::microseconds>(until - Clock::now()).count();
        if (left <= 0) return fail_errno(ETIMEDOUT, "the system bus does not answer");
        sd_bus_wait(bus.get(), static_cast<std::uint64_t>(left));
    }
}

/// `patience`: of each call.
Result<Bus> begin(const char* address, bool is_bus, std::chrono::microseconds patience) {
    // Like sd_bus_open_system(), but that would not use our time limit for the first message.
    sd_bus* made = nullptr;
    if (const int error = sd_bus_new(&made); error < 0)
        return fail_errno(-error, "cannot create a D-Bus connection");
    Bus bus(made);
    for (const int step :
         {sd_bus_set_method_call_timeout(made, static_cast<std::uint64_t>(patience.count())),
          sd_bus_set_address(made, address), sd_bus_set_bus_client(made, is_bus ? 1 : 0), sd_bus_start(made)})
        if (step < 0) return fail_errno(-step, "cannot connect to the system bus");
    return bus;
}

Result<Bus> begin_bus(std::chrono::microseconds patience) {
    const char* address = std::getenv("DBUS_SYSTEM_BUS_ADDRESS");
    return begin(address != nullptr ? address : default_address, /*is_bus=*/true, patience);
}

} // namespace

Result<std::string> teamd_name(const std::string& team) {
    auto name = fmt::format("{}.{}", teamd_interface, team);
    if (sd_bus_service_name_is_valid(name.c_str()) == 0)
        return fail(EINVAL, fmt::format("{} is not a valid D-Bus name", name));
    return name;
}

Result<Bus> open_system_bus(std::chrono::seconds patience) {
    return when_ready(begin_system_bus(), patience);
}

Result<Bus> begin_system_bus() { return begin_bus(call_patience); }

Result<Bus> open_systemd() {
    auto bus = when_ready(begin(systemd_address, /*is_bus=*/false, systemd_patience), systemd_patience);
    return bus ? std::move(bus) : when_ready(begin_bus(systemd_patience), systemd_patience);
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
