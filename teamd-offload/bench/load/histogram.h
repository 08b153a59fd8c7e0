// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace teamo::bench {

/// Durations in classes, each 3 % wide (32 for a power of two). One thread adds, another may read.
class Histogram {
public:
    void add(std::chrono::nanoseconds duration);
    void add(const Histogram& other);
    void clear();

    std::uint64_t count() const;
    /// The duration in microseconds that `percent` of all do not exceed; none: there are none.
    std::optional<double> percentile(double percent) const;

private:
    static constexpr unsigned steps = 32, powers = 40; ///< up to 18 minutes
    std::array<std::atomic<std::uint32_t>, std::size_t{steps} * powers> classes_{};

    static std::size_t class_of(std::uint64_t nanoseconds);
    static double middle_of(std::size_t number);
};

} // namespace teamo::bench
