// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lab/tsc.h"

#ifdef __x86_64__
#include <x86intrin.h>

#include <chrono>
#include <thread>
#endif

namespace teamo::test {

#ifdef __x86_64__
namespace {

struct Moment {
    std::chrono::steady_clock::time_point time;
    std::uint64_t ticks = 0;
};

/// Both clocks at one moment: of ten tries the one that nothing came between.
Moment read_both() {
    Moment best;
    auto narrowest = UINT64_MAX;
    for (int attempt = 0; attempt < 10; ++attempt) {
        const auto before = __rdtsc();
        const auto time = std::chrono::steady_clock::now();
        const auto after = __rdtsc();
        if (after - before >= narrowest) continue;
        narrowest = after - before;
        best = {.time = time, .ticks = before + narrowest / 2};
    }
    return best;
}

} // namespace

std::uint64_t tsc_khz() {
    const auto first = read_both();
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
    const auto last = read_both();
    const std::chrono::duration<double, std::milli> passed = last.time - first.time;
    return static_cast<std::uint64_t>(static_cast<double>(last.ticks - first.ticks) / passed.count());
}
#else
std::uint64_t tsc_khz() { return 0; }
#endif

} // namespace teamo::test
