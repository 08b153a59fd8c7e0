// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Whether placing interrupts, or binding workers, is worth it: measured with and without, under the load of
// the day.
#pragma once

#include <array>
#include <cstdint>

namespace teamo {

enum class Bought : std::uint8_t {
    unclear,   ///< nothing was sent, or the rounds contradict one another
    nothing,   ///< the same with and without
    something, ///< less CPU time for a KiB, or more throughput
    harm,      ///< more CPU time for a KiB, or less throughput
};
constexpr const char* name_of(Bought bought) {
    constexpr std::array names{"unclear", "nothing", "something", "harm"};
    return names[static_cast<std::size_t>(bought)];
}

struct BenchmarkResult {
    std::uint64_t bytes_without = 0, bytes_with = 0; ///< per second, both ways: medians
    std::uint64_t cpu_without = 0, cpu_with = 0;     ///< nanoseconds of CPU time for a KiB: medians
    Bought bought = Bought::unclear;
    bool operator==(const BenchmarkResult&) const = default;
};

} // namespace teamo
