// SPDX-License-Identifier: LGPL-2.1-or-later
#include "workers/unit_cpus.h"

#include <algorithm>
#include <cctype>

namespace teamo {
namespace {

/// The property is in the interface of the unit's type: "…systemd1.Service" for ".service".
std::string interface_of(const std::string& unit) {
    auto kind = unit.substr(unit.rfind('.') + 1);
    if (!kind.empty()) kind[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(kind[0])));
    return fmt::format("{}.{}", systemd_name, kind);
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

Result<UnitCpus> UnitCpus::open() {
    // systemd starts the bus with its first client, which takes a while.
    return UnitCpus(TEAMO_TRY(open_system_bus(std::chrono::seconds(4))));
}

Result<CpuList> UnitCpus::read(const std::string& unit) const {
    const auto path = TEAMO_TRY(unit_path(unit));
    sd_bus_error refusal = SD_BUS_ERROR_NULL;
    sd_bus_message* answer = nullptr;
    int error = sd_bus_get_property(bus_.get(), systemd_name, path.c_str(), interface_of(unit).c_str(),
                                    "AllowedCPUs", &refusal, &answer, "ay");
    const BusMessage owned(answer);
    if (error < 0) return failure(unit, error, refusal);
    const void* bytes = nullptr;
    std::size_t size = 0;
    error = sd_bus_message_read_array(answer, 'y', &bytes, &size);
    if (error < 0) return fail_errno(-error, unit);
    return cpus_of_bytes({static_cast<const std::uint8_t*>(bytes), size});
}

Result<> UnitCpus::set(const std::string& unit, const CpuList& cpus) const {
    sd_bus_message* made = nullptr;
    int error = sd_bus_message_new_method_call(bus_.get(), &made, systemd_name, systemd_path, systemd_manager,
                                               "SetUnitProperties");
    const BusMessage call(made);
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
