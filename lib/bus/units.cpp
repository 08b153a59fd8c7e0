// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus/units.h"

#include "base/clock.h"
#include "bus/system_bus.h"

#include <systemd/sd-login.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <thread>

namespace teamo {
namespace {

constexpr const char* unit_interface = "org.freedesktop.systemd1.Unit";

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

std::string unit_of_process(pid_t process) {
    char* unit = nullptr;
    const bool is_known = ::sd_pid_get_unit(process, &unit) >= 0;
    const Handle<char, ::free> name(unit);
    return is_known ? name.get() : "";
}

} // namespace teamo
