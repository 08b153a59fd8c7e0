// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Whether placing interrupts, or binding workers, is worth it: measured with and without, under the load of
// the day.
#pragma once

#include <array>
#include <cstdint>

namespace teamo {

enum class BenchmarkEffect : std::uint8_t {
    unclear, ///< nothing was sent, or the rounds contradict one another
    none,    ///< the same with and without
    gain,    ///< less CPU time for a KiB, or more throughput
    loss,    ///< more CPU time for a KiB, or less throughput
};
constexpr const char* name_of(BenchmarkEffect effect) {
    constexpr std::array names{"unclear", "none", "gain", "loss"};
    return names[static_cast<std::size_t>(effect)];
}

/// What can be switched off to see what it gains.
enum class BenchmarkStep : std::uint8_t { interrupts, workers };
constexpr const char* name_of(BenchmarkStep step) {
    constexpr std::array names{"interrupts", "workers"};
    return names[static_cast<std::size_t>(step)];
}

/// A measurement switches something off and on, and at the end back to what it was.
enum class TrialState : std::uint8_t { off, on, end };
constexpr const char* name_of(TrialState state) {
    constexpr std::array names{"off", "on", "end"};
    return names[static_cast<std::size_t>(state)];
}

struct BenchmarkResult {
    std::uint64_t bytes_without = 0, bytes_with = 0; ///< per second, both ways: medians
    std::uint64_t cpu_without = 0, cpu_with = 0;     ///< nanoseconds of CPU time for a KiB: medians
    BenchmarkEffect effect = BenchmarkEffect::unclear;
    bool operator==(const BenchmarkResult&) const = default;
};

} // namespace teamo
