// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/cpus/idle_times.h"

#include "base/take_until.h"
#include "base/whole_number.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace teamo {
namespace {

/// Of the CPU whose lines are read.
struct Lines {
    std::optional<unsigned> cpu{};
    std::optional<std::int64_t> tick_stopped{}, entry{}, sleep{}, iowait{}; ///< the times in nanoseconds

    /// Its tick stands still while it is idle: the time since then is not in its sum yet.
    std::optional<std::chrono::nanoseconds> idle(std::int64_t now) const {
        if (!cpu || !tick_stopped || !entry || !sleep || !iowait) return std::nullopt;
        constexpr std::int64_t most = std::int64_t{1} << 60; // 36 years
        if (*sleep < 0 || *iowait < 0 || *entry < 0 || std::max({*sleep, *iowait, *entry, now}) > most)
            return std::nullopt;
        const auto open = *tick_stopped == 0 ? 0 : std::max<std::int64_t>(now - *entry, 0);
        return std::chrono::nanoseconds(*sleep + *iowait + open);
    }
};

/// "  .idle_sleeptime : 1012624090746 nsecs".
std::optional<std::int64_t> value_of(std::string_view line) {
    (void)take_until(line, ":");
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    return whole_number<std::int64_t>(line.substr(0, line.find(' ')));
}

} // namespace

std::map<unsigned, std::chrono::nanoseconds> parse_idle_times(std::string_view timer_list) {
    std::map<unsigned, std::chrono::nanoseconds> times;
    std::int64_t now = 0;
    Lines of;
    const auto finish = [&] {
        if (const auto idle = of.idle(now)) times[*of.cpu] = *idle;
        of = {};
    };
    while (!timer_list.empty()) {
        const auto line = take_until(timer_list, "\n");
        if (line.starts_with("now at "))
            now = whole_number<std::int64_t>(line.substr(7, line.find(' ', 7) - 7)).value_or(0);
        if (line.starts_with("cpu: ")) {
            finish();
            of.cpu = whole_number<unsigned>(line.substr(5));
        }
        if (line.starts_with("  .tick_stopped ")) of.tick_stopped = value_of(line);
        if (line.starts_with("  .idle_entrytime ")) of.entry = value_of(line);
        if (line.starts_with("  .idle_sleeptime ")) of.sleep = value_of(line);
        if (line.starts_with("  .iowait_sleeptime")) of.iowait = value_of(line);
    }
    finish();
    return times;
}

} // namespace teamo
