// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/run/speed.h"

#include "base/clock.h"
#include "kernel/cpus/cpus.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <system_error>
#include <thread>
#include <vector>

namespace teamo::bench {
namespace {

constexpr std::chrono::milliseconds spent_on_speed{10};

/// Blocks per millisecond of one CPU: as the work of a network stack, a part is memory and a part is
/// arithmetic.
double speed_of(unsigned cpu) {
    static_cast<void>(write_thread_affinity(0, {cpu}));
    std::vector<std::uint32_t> from(16'384, cpu), to(16'384);
    double blocks = 0;
    const auto start = Clock::now();
    auto now = start;
    for (; now - start < spent_on_speed; now = Clock::now(), ++blocks) {
        std::ranges::copy(from, to.begin());
        from.front() = std::accumulate(to.begin(), to.end(), std::uint32_t{1});
    }
    return blocks / std::chrono::duration<double, std::milli>(now - start).count();
}

} // namespace

std::optional<double> machine_speed() {
    const auto cpus = read_thread_affinity(0);
    if (!cpus) return std::nullopt;
    std::vector<double> speeds(cpus->size());
    try {
        std::vector<std::jthread> threads;
        for (std::size_t at = 0; const auto cpu : *cpus)
            threads.emplace_back([cpu, &speed = speeds[at++]] { speed = speed_of(cpu); });
    } catch (const std::system_error&) {
        return std::nullopt;
    }
    return std::accumulate(speeds.begin(), speeds.end(), 0.0);
}

} // namespace teamo::bench
