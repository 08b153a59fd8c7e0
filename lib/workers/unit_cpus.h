// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Reads and sets AllowedCPUs= of systemd units by D-Bus, because only systemd may write its control groups'
// files.
#pragma once

#include "base/cpu_list.h"
#include "bus/system_bus.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace teamo {

class UnitCpus {
public:
    /// Connects to the system bus. ENOENT, ECONNREFUSED and others: no systemd, or no bus.
    static Result<UnitCpus> open();
    explicit UnitCpus(Bus bus) : bus_(std::move(bus)) {}

    /// The configured CPUs; empty: all.
    Result<CpuList> read(const std::string& unit) const;
    /// Sets the CPUs until the machine reboots, also for the unit's next start. Empty: all. Has an effect
    /// only if the unified hierarchy has the cpuset controller.
    Result<> set(const std::string& unit, const CpuList& cpus) const;

private:
    Bus bus_;
};

/// Converts to and from systemd's bus format: bit 0 of byte 0 is CPU 0.
std::vector<std::uint8_t> cpu_bytes(const CpuList& cpus);
CpuList cpus_of_bytes(std::span<const std::uint8_t> bytes);

} // namespace teamo
