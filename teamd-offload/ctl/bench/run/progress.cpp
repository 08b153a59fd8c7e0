// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/bench/run/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace teamo::ctl::bench {
namespace {

constexpr std::size_t bar_width = 20;

std::string time_left(std::size_t done, std::size_t all, Clock::duration passed) {
    if (done == 0) return "";
    const auto left = std::chrono::duration_cast<std::chrono::seconds>(passed).count() *
                      static_cast<std::int64_t>(all - std::min(done, all)) / static_cast<std::int64_t>(done);
    return fmt::format("  {}:{:02} left", left / 60, left % 60);
}

} // namespace

std::string progress_line(std::size_t done, std::size_t all, Clock::duration passed, std::string_view what) {
    const auto filled = all == 0 ? bar_width : bar_width * std::min(done, all) / all;
    return fmt::format("[{:#<{}}{:-<{}}] {}/{}{}  {}", "", filled, "", bar_width - filled, done, all,
                       time_left(done, all, passed), what);
}

void Progress::next(std::string_view what) {
    const auto line = progress_line(done_++, all_, Clock::now() - start_, what);
    // \r and "erase the rest of the line".
    std::fputs(fmt::format("{}{}{}", is_terminal_ ? "\r" : "", line, is_terminal_ ? "\033[K" : "\n").c_str(),
               stderr);
    std::fflush(stderr);
}

Progress::~Progress() {
    if (is_terminal_ && done_ > 0) std::fputs("\r\033[K", stderr);
}

} // namespace teamo::ctl::bench
