// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Tests wait for conditions, never for time.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>

namespace teamo::test {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

inline milliseconds since(SteadyClock::time_point then) {
    return std::chrono::duration_cast<milliseconds>(SteadyClock::now() - then);
}

/// How long to wait for what must come. It costs where a test fails only, so it is no claim of how long that
/// takes: a machine that is busy with other things takes seconds.
inline constexpr milliseconds long_enough = 10s;

inline bool emulated() {
    static const bool in_lab = std::getenv("TEAMO_LAB") != nullptr;
    return in_lab;
}

/// The same in a guest of the lab, who on a busy machine has seconds of its own.
inline milliseconds patient(milliseconds patience) { return emulated() ? 4 * patience : patience; }

/// Until the next look. Who looks all the time keeps an emulated CPU from what is waited for.
inline milliseconds until_next_look() { return emulated() ? 20ms : 2ms; }

/// Polls until `holds()` is true; the failure says what was waited for, and for how long.
template <class Condition>
testing::AssertionResult eventually(std::string_view what, Condition holds,
                                    milliseconds patience = long_enough) {
    const auto start = SteadyClock::now();
    while (!holds()) {
        if (since(start) > patient(patience))
            return testing::AssertionFailure()
                   << fmt::format("not within {} ms: {}", patient(patience).count(), what);
        std::this_thread::sleep_for(until_next_look());
    }
    return testing::AssertionSuccess();
}

/// Polls until `read()` gives `expected`; the failure shows the last value.
template <class Value, class Read>
testing::AssertionResult becomes(const Value& expected, Read read, milliseconds patience = long_enough) {
    auto last = read();
    const bool came = static_cast<bool>(eventually(
        "", [&] { return (last = read()) == expected; }, patience));
    if (came) return testing::AssertionSuccess();
    return testing::AssertionFailure()
           << "after " << patient(patience).count() << " ms it is still " << testing::PrintToString(last)
           << ", not " << testing::PrintToString(expected);
}

/// The condition holds all the time: checked again and again for as long as that.
template <class Condition>
testing::AssertionResult stays(std::string_view what, Condition holds, milliseconds how_long) {
    const auto start = SteadyClock::now();
    do {
        if (!holds())
            return testing::AssertionFailure()
                   << fmt::format("{} ms on, no longer: {}", since(start).count(), what);
        std::this_thread::sleep_for(until_next_look());
    } while (since(start) < how_long);
    return testing::AssertionSuccess();
}

} // namespace teamo::test
