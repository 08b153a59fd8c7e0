// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/run/run_rounds.h"

#include "bench/compare.h"
#include "bench/run/progress.h"
#include "bench/run/speed.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

namespace teamo::bench {
namespace {

/// What closed connections left in queues is dropped by then.
constexpr std::chrono::milliseconds to_drain{50};

/// A connection takes up to two descriptors at each end, and a stage has sockets of its own.
void raise_descriptor_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) < 0) return;
    limit.rlim_cur = limit.rlim_max;
    (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

} // namespace

Result<> run_rounds(const Options& options, Results& results,
                    const std::function<Result<Ends>(const Case&)>& ends_of) {
    raise_descriptor_limit();
    const auto order = order_of_rounds(results.cases.size(), options.rounds);
    Progress progress(::isatty(STDERR_FILENO) != 0);
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
    const bool nothing =
        std::ranges::all_of(results.cases, [](const Measured& measured) { return measured.rounds.empty(); });
    return nothing && first ? tl::unexpected(std::move(*first)) : Result<>();
}

} // namespace teamo::bench
