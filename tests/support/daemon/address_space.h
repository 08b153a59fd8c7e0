// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <fstream>
#include <string>

namespace teamo::test {

/// In bytes (VmSize of /proc/PID/status).
inline std::uint64_t address_space_of(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/statm");
    std::uint64_t pages = 0;
    file >> pages;
    return pages * 4096;
}

/// It maps terabytes for its notes, in a library of its own (g++) or not (clang++).
inline bool has_address_sanitizer(pid_t process) {
    return address_space_of(process) > std::uint64_t{1} << 40;
}

} // namespace teamo::test
