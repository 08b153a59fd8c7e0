// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus/units.h"

#include "base/clock.h"
#include "bus/system_bus.h"

#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <thread>

namespace teamo {
namespace {

constexpr std::chrono::seconds stop_patience{30};
constexpr std::chrono::milliseconds poll_interval{20};
constexpr const char* unit_interface = "org.freedesktop.systemd1.Unit";

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

/// A property of one of systemd's objects.
Result<std::string> read_text(sd_bus* bus, const std::string& path, const char* interface,
                              const char* property) {
    char* value = nullptr;
    const int error =
        sd_bus_get_property_string(bus, systemd_name, path.c_str(), interface, property, nullptr, &value);
    const Handle<char, ::free> text(value);
    if (error < 0) return fail_errno(-error, path);
    return std::string(text.get());
}

/// False also if systemd does not answer.
bool is_active(sd_bus* bus, const std::string& unit) {
    const auto path = unit_path(unit);
    if (!path) return false;
    const auto now = read_text(bus, *path, unit_interface, "ActiveState");
    return now && *now != "inactive" && *now != "failed";
}

/// The object of our own unit. sd_pid_get_unit(3) cannot tell: it reads /proc/1, which ProtectProc= hides.
Result<std::string> own_unit(sd_bus* bus) {
    sd_bus_message* answer = nullptr;
    int error = sd_bus_call_method(bus, systemd_name, systemd_path, systemd_manager, "GetUnitByPID", nullptr,
                                   &answer, "u", static_cast<std::uint32_t>(::getpid()));
    const BusMessage owned(answer);
    const char* path = nullptr;
    if (error >= 0) error = sd_bus_message_read(answer, "o", &path);
    if (error < 0) return fail_errno(-error, "GetUnitByPID");
    return std::string(path);
}

/// The job that waits for or runs on our unit (org.freedesktop.systemd1.Unit, property Job: number and path).
Result<std::string> job_type() {
    const auto bus = TEAMO_TRY(open_systemd());
    const auto unit = TEAMO_TRY(own_unit(bus.get()));
    sd_bus_message* answer = nullptr;
    int error = sd_bus_get_property(bus.get(), systemd_name, unit.c_str(), unit_interface, "Job", nullptr,
                                    &answer, "(uo)");
    const BusMessage owned(answer);
    std::uint32_t number = 0;
    const char* job = nullptr;
    if (error >= 0) error = sd_bus_message_read(answer, "(uo)", &number, &job);
    if (error < 0) return fail_errno(-error, unit);
    if (number == 0) return std::string();
    return read_text(bus.get(), job, "org.freedesktop.systemd1.Job", "JobType");
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

bool is_unit_restarting() {
    // A child of another service is in its unit too, for example of NetworkManager's.
    if (std::getenv("NOTIFY_SOCKET") == nullptr || ::getppid() != 1) return false;
    // systemd does not answer while it executes itself anew (systemctl daemon-reexec, an upgrade of systemd).
    constexpr std::array silent{ECONNRESET, ECONNREFUSED, ENOTCONN, EPIPE, ETIMEDOUT};
    constexpr std::chrono::seconds longest{10};
    constexpr std::chrono::milliseconds pause{200};
    const auto begun = Clock::now();
    auto job = job_type();
    while (!job && std::ranges::count(silent, job.error().number) > 0 && Clock::now() - begun < longest) {
        std::this_thread::sleep_for(pause);
        job = job_type();
    }
    // While a restart stops the unit, its job is the restart; then the same job becomes a start.
    return job.value_or("") == "restart";
}

} // namespace teamo
