// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/bench/run/rounds.h"

#include "ctl/bench/compare.h"
#include "ctl/bench/run/progress.h"

#include <unistd.h>

#include <algorithm>

namespace teamo::ctl::bench {

Result<> run_rounds(const Options& options, Results& results,
                    const std::function<Result<Ends>(const Case&)>& ends_of) {
    const auto order = order_of_rounds(results.cases.size(), options.rounds);
    Progress progress(order.size(), ::isatty(STDERR_FILENO) != 0);
    for (const auto& round : order) {
        auto& measured = results.cases[round.number];
        const auto what = case_text(measured.what);
        progress.next(what);
        if (!measured.skipped.empty()) continue;
        const auto ends = ends_of(measured.what);
        if (!ends && ends.error().number == ENOTSUP) {
            measured.skipped = ends.error().text;
            continue;
        }
        if (!ends) return within(what, ends.error());
        const auto length = round.counts ? options.round : std::min(options.round, warm_up);
        auto sample = TEAMO_TRY(within(what, measure_round(*ends, measured.what, length)));
        if (round.counts) measured.rounds.push_back(std::move(sample));
    }
    return {};
}

} // namespace teamo::ctl::bench
