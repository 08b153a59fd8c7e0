// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/run/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace teamo::bench {
namespace {

constexpr std::size_t bar_width = 20;

std::string time_left(const Steps& done, const Steps& left, Clock::duration passed) {
    if (done.count == 0) return "";
    const auto beyond = std::max<Clock::duration>(passed - done.time, Clock::duration(0)) / done.count;
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(left.time + beyond * left.count).count();
    return fmt::format("  {}:{:02} left", seconds / 60, seconds % 60);
}

} // namespace

std::string progress_line(const Steps& done, const Steps& left, Clock::duration passed,
                          std::string_view what) {
    const auto all = done.time + left.time;
    const auto filled = all.count() == 0 ? bar_width
                                         : bar_width * static_cast<std::size_t>(done.time.count()) /
                                               static_cast<std::size_t>(all.count());
    return fmt::format("[{:#<{}}{:-<{}}] {}/{}{}  {}", "", filled, "", bar_width - filled, done.count,
                       done.count + left.count, time_left(done, left, passed), what);
}

void Progress::next(const Steps& done, const Steps& left, std::string_view what) {
    const auto line = progress_line(done, left, Clock::now() - start_, what);
    is_shown_ = true;
    // \r and "erase the rest of the line".
    std::fputs(fmt::format("{}{}{}", is_terminal_ ? "\r" : "", line, is_terminal_ ? "\033[K" : "\n").c_str(),
               stderr);
    std::fflush(stderr);
}

Progress::~Progress() {
    if (is_terminal_ && is_shown_) std::fputs("\r\033[K", stderr);
}

} // namespace teamo::bench
