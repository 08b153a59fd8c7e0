// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The measured effect of placing interrupts or binding workers: with and without, under the present load.
#pragma once

#include <array>
#include <cstdint>

namespace teamo {

enum class BenchmarkEffect : std::uint8_t {
    unclear, ///< there was no traffic, or the rounds disagree
    none,    ///< the same with and without
    gain,    ///< less CPU time per KiB, or more throughput
    loss,    ///< more CPU time per KiB, or less throughput
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
    std::uint64_t bytes_without = 0, bytes_with = 0; ///< medians, per second, sent and received
    std::uint64_t cpu_without = 0, cpu_with = 0;     ///< medians of the service demand: CPU ns per KiB
    BenchmarkEffect effect = BenchmarkEffect::unclear;
    bool operator==(const BenchmarkResult&) const = default;
};

} // namespace teamo
