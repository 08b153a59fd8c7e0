// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string>

namespace teamo::soak {

/// Memory and descriptors of a daemon stay the same while it runs. Starts anew with each process.
class Growth {
public:
    struct Look {
        pid_t process = 0;
        std::uint64_t faults = 0;  ///< since the soak began
        std::size_t of_others = 0; ///< descriptors for ports and clients: not counted
        bool guarded = false;      ///< with the guard it has more of both
    };
    /// Of a settled daemon. While it answers, reads or loads a program it has more for a moment: what has
    /// grown must be seen again.
    std::string wrong(const Look& look);
    std::string text() const;

private:
    struct First {
        unsigned looks = 0;
        std::size_t kib = 0, descriptors = 0; ///< the most while it warmed up
    };
    pid_t process_ = 0;
    std::uint64_t began_ = 0, faults_ = 0, longest_ = 0; ///< in faults
    std::array<First, 2> first_;                         ///< without and with the guard
    std::size_t kib_ = 0, descriptors_ = 0;
};

} // namespace teamo::soak
