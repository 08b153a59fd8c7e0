// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <string>

namespace teamo::test {

/// In bytes.
inline std::uint64_t address_space_of(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/statm");
    std::uint64_t pages = 0;
    file >> pages;
    return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// What a process has allocated and written, in KiB: pages of its files, which it reads as it first needs
/// them, do not count.
inline std::uint64_t own_memory_kib(pid_t process) {
    std::ifstream status("/proc/" + std::to_string(process) + "/status");
    std::uint64_t kib = 0;
    for (std::string word; status >> word;)
        if (word == "RssAnon:") status >> kib;
    return kib;
}

/// It reserves terabytes (x86-64, and arm64 with 48 bits), in a library of its own (g++) or not (clang++).
inline bool has_address_sanitizer(pid_t process) {
    return address_space_of(process) > std::uint64_t{1} << 40;
}

} // namespace teamo::test
