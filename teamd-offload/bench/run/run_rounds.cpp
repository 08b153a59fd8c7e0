// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/run/run_rounds.h"

#include "bench/summary.h"
#include "kernel/files/process_files.h"
#include "text/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <thread>

namespace teamo::bench {
namespace {

/// What closed connections left in queues is dropped by then.
constexpr std::chrono::milliseconds to_drain{50};

constexpr std::size_t bar_width = 20;

std::string time_left(const Steps& done, const Steps& left, Clock::duration passed) {
    if (done.count == 0) return "";
    const auto beyond = std::max<Clock::duration>(passed - done.time, Clock::duration(0)) / done.count;
    return "  " + teamo::time_left(left.time + beyond * left.count);
}

void write_progress(const std::string& text) {
    std::fputs(text.c_str(), stderr);
    std::fflush(stderr);
}

/// To standard error.
class Progress {
public:
    Progress() = default;
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress() { write_progress(line_.erase()); }

    /// The next step begins. It is one of those that are left.
    void next(const Steps& done, const Steps& left, std::string_view what) {
        write_progress(line_.draw(progress_line(done, left, Clock::now() - start_, what)));
    }

private:
    ProgressLine line_{::isatty(STDERR_FILENO) != 0};
    Clock::time_point start_ = Clock::now();
};

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

Result<> run_rounds(const Options& options, Results& results,
                    const std::function<Result<Ends>(const Case&)>& ends_of) {
    raise_descriptor_limit(); // up to two for a connection at each end, and those of a stage
    const auto order = order_of_rounds(results.cases.size(), options.rounds);
    Progress progress;
    Steps done;
    std::optional<Error> first;
    for (std::size_t step = 0; step < order.size(); ++step) {
        const auto& round = order[step];
        auto& measured = results.cases[round.number];
        if (!measured.skipped.empty() || !measured.failed.empty()) continue;
        const auto what = case_text(measured.what);
        progress.next(done, steps_of(std::span(order).subspan(step), results.cases, options), what);
        const auto ends = ends_of(measured.what);
        if (!ends && ends.error().number == ENOTSUP) {
            measured.skipped = ends.error().text;
            continue;
        }
        const auto length = length_of(round, options);
        const auto before = machine_speed();
        Result<Sample> sample =
            ends ? measure_round(*ends, measured.what, length) : Result<Sample>(tl::unexpected(ends.error()));
        std::this_thread::sleep_for(to_drain);
        const auto after = machine_speed();
        if (sample && before && after) sample->speed = (*before + *after) / 2;
        ++done.count;
        done.time += length;
        if (!sample) {
            measured.failed = sample.error().text;
            if (!first) first = within(what, sample.error()).value();
        } else if (round.counts) {
            measured.rounds.push_back(std::move(*sample));
        }
    }
    return first && !was_measured(results) ? tl::unexpected(std::move(*first)) : Result<>();
}

} // namespace teamo::bench
