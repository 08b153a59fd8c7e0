// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/load/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace teamo::bench {

// Below `steps` a class is one nanosecond. Above it the five bits after the highest one select the class.
std::size_t Histogram::class_of(std::uint64_t nanoseconds) {
    if (nanoseconds < steps) return nanoseconds;
    const auto shift = static_cast<unsigned>(std::bit_width(nanoseconds)) - std::bit_width(steps);
    return std::min<std::size_t>(std::uint64_t{shift + 1} * steps + ((nanoseconds >> shift) - steps),
                                 std::size_t{steps} * powers - 1);
}

double Histogram::middle_of(std::size_t number) {
    if (number < steps) return static_cast<double>(number);
    const auto shift = static_cast<int>(number / steps) - 1;
    return std::ldexp(static_cast<double>(steps + number % steps) + 0.5, shift);
}

void Histogram::add(std::chrono::nanoseconds duration) {
    const auto number = class_of(static_cast<std::uint64_t>(std::max<std::int64_t>(duration.count(), 0)));
    classes_.at(number).fetch_add(1, std::memory_order_relaxed);
}

void Histogram::add(const Histogram& other) {
    for (std::size_t number = 0; number < classes_.size(); ++number)
        classes_.at(number) += other.classes_.at(number).load(std::memory_order_relaxed);
}

void Histogram::clear() {
    for (auto& one : classes_)
        one = 0;
}

std::uint64_t Histogram::count() const {
    std::uint64_t sum = 0;
    for (const auto& one : classes_)
        sum += one;
    return sum;
}

std::optional<double> Histogram::percentile(double percent) const {
    const auto all = count();
    if (all == 0) return std::nullopt;
    const auto wanted = std::max<std::uint64_t>(
        static_cast<std::uint64_t>(std::ceil(static_cast<double>(all) * percent / 100)), 1);
    std::uint64_t passed = 0;
    for (std::size_t number = 0; number < classes_.size(); ++number) {
        passed += classes_.at(number);
        if (passed >= wanted) return middle_of(number) / 1000;
    }
    return middle_of(classes_.size() - 1) / 1000;
}

} // namespace teamo::bench
