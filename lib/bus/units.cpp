// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus/units.h"

#include "bus/system_bus.h"

#include <systemd/sd-daemon.h>

#include <filesystem>

namespace teamo {
namespace {

constexpr const char *manager_path = "/org/freedesktop/systemd1",
                     *manager_interface = "org.freedesktop.systemd1.Manager";

template <class... Values>
Result<> call(const char* method, const std::string& unit, const char* types, Values... values) {
    const auto bus = TEAMO_TRY(open_systemd());
    sd_bus_error refused = SD_BUS_ERROR_NULL;
    const int error = sd_bus_call_method(bus.get(), systemd_name, manager_path, manager_interface, method,
                                         &refused, nullptr, types, values...);
    const std::string text = refused.message == nullptr ? errno_text(-error) : refused.message;
    sd_bus_error_free(&refused);
    return error < 0 ? fail(-error, fmt::format("{}: {}", unit, text)) : Result<>();
}

} // namespace

bool has_systemd() {
    std::error_code failed;
    const auto own = std::filesystem::read_symlink("/proc/self/ns/net", failed),
               first = std::filesystem::read_symlink("/proc/1/ns/net", failed);
    return sd_booted() > 0 && !failed && own == first;
}

Result<> start_unit(const std::string& unit) {
    return call("StartUnit", unit, "ss", unit.c_str(), "replace");
}

Result<> stop_unit(const std::string& unit) { return call("StopUnit", unit, "ss", unit.c_str(), "replace"); }

Result<> enable_unit(const std::string& unit) {
    // A list of one unit; not only until the next boot; replaces no foreign link.
    return call("EnableUnitFiles", unit, "asbb", 1U, unit.c_str(), 0, 0);
}

} // namespace teamo
