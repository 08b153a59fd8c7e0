// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Tests wait for conditions, not for a fixed time.
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

/// How long to wait for a condition that must become true. Only a failing test waits so long; a busy machine
/// needs seconds.
inline constexpr milliseconds long_enough = 10s;

inline bool emulated() {
    static const bool in_lab = std::getenv("TEAMO_LAB") != nullptr;
    return in_lab;
}

/// Longer in a guest of the lab, because emulation is slow on a busy machine.
inline milliseconds patient(milliseconds patience) { return emulated() ? 4 * patience : patience; }

/// The pause between polls. Polls without one kept an emulated CPU busy, and a daemon with sanitizers, which
/// needs 15 ms for a state: those were a sixth of all CPU time of the tests in namespaces.
inline milliseconds poll_interval() {
    static const bool is_slow = emulated() || std::getenv("TEAMO_DAEMON") != nullptr;
    return is_slow ? 20ms : 2ms;
}

/// Polls until `holds()` is true; the failure shows `what` and the time.
template <class Condition>
testing::AssertionResult eventually(std::string_view what, Condition holds,
                                    milliseconds patience = long_enough) {
    const auto start = SteadyClock::now();
    while (!holds()) {
        if (since(start) > patient(patience))
            return testing::AssertionFailure()
                   << fmt::format("did not happen within {} ms: {}", patient(patience).count(), what);
        std::this_thread::sleep_for(poll_interval());
    }
    return testing::AssertionSuccess();
}

/// Polls until `read()` gives `expected`; the failure shows the last value.
template <class Value, class Read>
testing::AssertionResult becomes(const Value& expected, Read read, milliseconds patience = long_enough) {
    auto last = read();
    const bool came =
        static_cast<bool>(eventually("", [&] { return (last = read()) == expected; }, patience));
    if (came) return testing::AssertionSuccess();
    return testing::AssertionFailure()
           << "after " << patient(patience).count() << " ms the value is still "
           << testing::PrintToString(last) << ", not " << testing::PrintToString(expected);
}

/// Polls for this time; fails as soon as the condition does not hold.
template <class Condition>
testing::AssertionResult stays(std::string_view what, Condition holds, milliseconds how_long) {
    const auto start = SteadyClock::now();
    do {
        if (!holds())
            return testing::AssertionFailure()
                   << fmt::format("no longer true after {} ms: {}", since(start).count(), what);
        std::this_thread::sleep_for(poll_interval());
    } while (since(start) < how_long);
    return testing::AssertionSuccess();
}

} // namespace teamo::test
