// SPDX-License-Identifier: LGPL-2.1-or-later
//
// CPUs, nodes and cores as /sys has them.
#pragma once

#include "base/cpu_list.h"
#include "kernel/files/files.h"

#include <fmt/format.h>

#include <filesystem>
#include <string>

namespace teamo::test {

inline const std::string system_cpus = "/sys/devices/system/cpu/";

inline CpuList cpus_in(const std::string& file) {
    return sysfs::cpus(system_cpus + file).value_or(CpuList{});
}

inline int node_of(unsigned cpu) {
    for (int node = 0; node < 8; ++node)
        if (std::filesystem::exists(fmt::format("{}cpu{}/node{}", system_cpus, cpu, node))) return node;
    return -1;
}

inline int node_of(const std::string& card) {
    return std::stoi(read_file("/sys/class/net/" + card + "/device/numa_node").value_or("-1"));
}

/// The first thread of its core.
inline unsigned core_of(unsigned cpu) {
    return cpus_in(fmt::format("cpu{}/topology/thread_siblings_list", cpu)).at(0);
}

} // namespace teamo::test
