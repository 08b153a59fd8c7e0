// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Ports that lose their link again and again (link_watch.damping).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace teamo {

struct DampingStatus {
    std::uint32_t penalty = 0;                              ///< now
    bool suppressed = false;                                ///< used only while no other port can
    std::optional<std::chrono::milliseconds> until_reuse{}; ///< if it keeps its link
    bool operator==(const DampingStatus&) const = default;
};

/// What the next daemon must know. Times are milliseconds of the monotonic clock.
struct DampingMemory {
    std::uint32_t penalty = 0; ///< at `changed`; 0: there is nothing to know
    std::int64_t changed = 0;
    std::optional<std::int64_t> suppressed_since{};
    bool operator==(const DampingMemory&) const = default;
};

} // namespace teamo
