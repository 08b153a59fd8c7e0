// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus/units.h"

#include "base/clock.h"
#include "bus/system_bus.h"

#include <systemd/sd-daemon.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

namespace teamo {
namespace {

constexpr std::chrono::seconds stop_patience{30};
constexpr std::chrono::milliseconds poll_interval{20};

template <class... Values>
Result<> call(const char* method, const std::string& unit, const char* types, Values... values) {
    const auto bus = TEAMO_TRY(open_systemd());
    sd_bus_error refused = SD_BUS_ERROR_NULL;
    const int error = sd_bus_call_method(bus.get(), systemd_name, systemd_path, systemd_manager, method,
                                         &refused, nullptr, types, values...);
    const std::string text = refused.message == nullptr ? errno_text(-error) : refused.message;
    sd_bus_error_free(&refused);
    return error < 0 ? fail(-error, fmt::format("{}: {}", unit, text)) : Result<>();
}

using Text = std::unique_ptr<char, decltype(&std::free)>;

/// False also if systemd does not answer.
bool is_active(sd_bus* bus, const std::string& unit) {
    const auto path = unit_path(unit);
    char* state = nullptr;
    if (!path) return false;
    if (sd_bus_get_property_string(bus, systemd_name, path->c_str(), "org.freedesktop.systemd1.Unit",
                                   "ActiveState", nullptr, &state) < 0)
        return false;
    const Text free_state(state, std::free);
    const std::string_view now(state);
    return now != "inactive" && now != "failed";
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

Result<> stop_unit(const std::string& unit) {
    TEAMO_TRY(call("StopUnit", unit, "ss", unit.c_str(), "replace"));
    const auto bus = TEAMO_TRY(open_systemd());
    const auto until = Clock::now() + stop_patience;
    while (is_active(bus.get(), unit)) {
        if (Clock::now() >= until) return fail(ETIMEDOUT, fmt::format("{} does not stop", unit));
        std::this_thread::sleep_for(poll_interval);
    }
    return {};
}

Result<> enable_unit(const std::string& unit) {
    // A list of one unit; not only until the next boot; replaces no foreign link.
    return call("EnableUnitFiles", unit, "asbb", 1U, unit.c_str(), 0, 0);
}

} // namespace teamo
