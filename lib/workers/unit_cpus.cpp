// SPDX-License-Identifier: LGPL-2.1-or-later
#include "workers/unit_cpus.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace teamo {
namespace {

constexpr const char* default_address = "unix:path=/run/dbus/system_bus_socket";
constexpr const char* systemd = "org.freedesktop.systemd1";
constexpr const char* manager_path = "/org/freedesktop/systemd1";
constexpr const char* manager = "org.freedesktop.systemd1.Manager";
constexpr std::uint64_t patience = 1'000'000; // microseconds; the default of 25 s would block the daemon

using Message = Handle<sd_bus_message, sd_bus_message_unref>;
using Text = Handle<char, ::free>;

/// The property is in the interface of the unit's type: "…systemd1.Service" for ".service".
std::string interface_of(const std::string& unit) {
    auto kind = unit.substr(unit.rfind('.') + 1);
    if (!kind.empty()) kind[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(kind[0])));
    return fmt::format("{}.{}", systemd, kind);
}

/// A call's failure by systemd's words if it sent some. Frees `error`.
tl::unexpected<Error> failure(const std::string& unit, int code, sd_bus_error& error) {
    const std::string text = error.message != nullptr ? error.message : "";
    sd_bus_error_free(&error);
    return text.empty() ? fail_errno(-code, unit) : fail(-code, fmt::format("{}: {}", unit, text));
}

int append_cpus(sd_bus_message* call, const CpuList& cpus) {
    const auto bytes = cpu_bytes(cpus);
    for (const int step :
         {sd_bus_message_open_container(call, 'a', "(sv)"), sd_bus_message_open_container(call, 'r', "sv"),
          sd_bus_message_append(call, "s", "AllowedCPUs"), sd_bus_message_open_container(call, 'v', "ay"),
          sd_bus_message_append_array(call, 'y', bytes.data(), bytes.size()),
          sd_bus_message_close_container(call), sd_bus_message_close_container(call),
          sd_bus_message_close_container(call)})
        if (step < 0) return step;
    return 0;
}

} // namespace

UnitCpus::UnitCpus(sd_bus* bus) : bus_(bus) { sd_bus_set_method_call_timeout(bus, patience); }

Result<UnitCpus> UnitCpus::open() {
    // Like sd_bus_open_system(), but with our time limit, which that would not use for the first message (25
    // s).
    sd_bus* bus = nullptr;
    if (const int error = sd_bus_new(&bus); error < 0)
        return fail_errno(-error, "cannot create a D-Bus connection");
    UnitCpus units(bus); // sets the time limit
    const char* address = std::getenv("DBUS_SYSTEM_BUS_ADDRESS");
    for (const int step : {sd_bus_set_address(bus, address != nullptr ? address : default_address),
                           sd_bus_set_bus_client(bus, 1), sd_bus_start(bus)})
        if (step < 0) return fail_errno(-step, "cannot connect to systemd over the system bus");
    return units;
}

Result<CpuList> UnitCpus::read(const std::string& unit) const {
    char* encoded = nullptr;
    if (const int error = sd_bus_path_encode("/org/freedesktop/systemd1/unit", unit.c_str(), &encoded);
        error < 0)
        return fail_errno(-error, unit);
    const Text path(encoded);
    sd_bus_error refusal = SD_BUS_ERROR_NULL;
    sd_bus_message* answer = nullptr;
    int error = sd_bus_get_property(bus_.get(), systemd, path.get(), interface_of(unit).c_str(),
                                    "AllowedCPUs", &refusal, &answer, "ay");
    const Message owned(answer);
    if (error < 0) return failure(unit, error, refusal);
    const void* bytes = nullptr;
    std::size_t size = 0;
    error = sd_bus_message_read_array(answer, 'y', &bytes, &size);
    if (error < 0) return fail_errno(-error, unit);
    return cpus_of_bytes({static_cast<const std::uint8_t*>(bytes), size});
}

Result<> UnitCpus::set(const std::string& unit, const CpuList& cpus) const {
    sd_bus_message* made = nullptr;
    int error = sd_bus_message_new_method_call(bus_.get(), &made, systemd, manager_path, manager,
                                               "SetUnitProperties");
    const Message call(made);
    constexpr int runtime = 1;
    if (error >= 0) error = sd_bus_message_append(call.get(), "sb", unit.c_str(), runtime);
    if (error >= 0) error = append_cpus(call.get(), cpus);
    if (error < 0) return fail_errno(-error, unit);
    sd_bus_error refusal = SD_BUS_ERROR_NULL;
    error = sd_bus_call(bus_.get(), call.get(), 0, &refusal, nullptr);
    if (error < 0) return failure(unit, error, refusal);
    return {};
}

std::vector<std::uint8_t> cpu_bytes(const CpuList& cpus) {
    std::vector<std::uint8_t> bytes;
    for (const auto cpu : cpus) {
        if (bytes.size() <= cpu / 8) bytes.resize(cpu / 8 + 1);
        bytes[cpu / 8] = static_cast<std::uint8_t>(bytes[cpu / 8] | 1U << (cpu % 8));
    }
    return bytes;
}

CpuList cpus_of_bytes(std::span<const std::uint8_t> bytes) {
    constexpr std::size_t most = 8192 / 8; // the largest CONFIG_NR_CPUS
    CpuList cpus;
    for (std::size_t index = 0; index < std::min(bytes.size(), most); ++index)
        for (unsigned bit = 0; bit < 8; ++bit)
            if ((bytes[index] >> bit & 1U) != 0) cpus.push_back(static_cast<unsigned>(index * 8 + bit));
    return cpus;
}

} // namespace teamo
