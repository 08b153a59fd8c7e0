// SPDX-License-Identifier: LGPL-2.1-or-later
//
// AllowedCPUs= of systemd units, by D-Bus: the files of its control groups are systemd's own to write.
#pragma once

#include "base/cpu_list.h"
#include "base/result.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

struct sd_bus;

namespace teamo {

class UnitCpus {
public:
    /// By the system's bus. ENOENT, ECONNREFUSED and others: no systemd, or no bus.
    static Result<UnitCpus> open();
    /// By a connection that there is; it is no longer the caller's.
    explicit UnitCpus(sd_bus* bus);

    UnitCpus(UnitCpus&&) noexcept;
    UnitCpus& operator=(UnitCpus&&) noexcept;
    ~UnitCpus();

    /// As configured; empty: all.
    Result<CpuList> read(const std::string& unit) const;
    /// Until the unit is started anew, or the machine. Empty: all. It has an effect where the unified
    /// hierarchy has the cpuset controller.
    Result<> set(const std::string& unit, const CpuList& cpus) const;

private:
    struct Bus;
    std::unique_ptr<Bus> bus_;
};

/// As systemd writes sets of CPUs on the bus: bit 0 of byte 0 is CPU 0.
std::vector<std::uint8_t> cpu_bytes(const CpuList& cpus);
CpuList cpus_of_bytes(std::span<const std::uint8_t> bytes);

} // namespace teamo
