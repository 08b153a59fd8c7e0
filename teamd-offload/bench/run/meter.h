// SPDX-License-Identifier: LGPL-2.1-or-later
//
// CPU time and energy of the machine, of which only differences are meaningful, and its speed.
#pragma once

#include "bench/results.h"
#include "kernel/cpus/cpus.h"

namespace teamo::bench {

struct Reading {
    CpuReading cpu{};
    std::map<std::string, std::uint64_t> microjoules{}; ///< by meter of the machine (RAPL)
};

/// The meters of processors, in microjoules, by name. Not "psys", which counts the processor again, and not
/// the parts of a processor. `folder`: /sys/class/powercap (Documentation/power/powercap/powercap.rst).
std::map<std::string, std::uint64_t> read_rapl(const std::string& folder);

/// There is such a meter, but this user may not read it: since Linux 5.10 only root may (drivers/powercap,
/// CVE-2020-8694).
bool rapl_needs_root(const std::string& folder);

inline constexpr const char* rapl_folder = "/sys/class/powercap";
Result<Reading> read_meters();

/// The sum of these CPUs.
CpuTime sum_of(const std::map<unsigned, CpuTime>& times, const CpuList& cpus);

/// None: the machine has no meter, or one has started anew.
std::optional<double> joules_between(const Reading& earlier, const Reading& later);

/// Blocks of 64 KiB that all CPUs of this process together copy and add up in a millisecond: a virtual
/// machine may have less of its host at times, which no counter of the guest shows. Takes 10 ms, in which
/// nothing else may run. None: the kernel does not tell the CPUs, or has no memory for a thread.
std::optional<double> machine_speed();

} // namespace teamo::bench
