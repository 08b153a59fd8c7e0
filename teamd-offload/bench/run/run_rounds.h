// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.h"
#include "bench/run/plan.h"
#include "bench/run/traffic.h"

#include <functional>
#include <string>
#include <string_view>

namespace teamo::bench {

/// "[#####-----] 12/24  1:05 left  team, 8 ports, both ways"; pure. What the steps took beyond their planned
/// time, such as connections and stages, each step to come takes too.
std::string progress_line(const Steps& done, const Steps& left, Clock::duration passed,
                          std::string_view what);

/// Runs the rounds of all cases in turn, and shows the progress. A case is skipped if `ends_of` fails with
/// ENOTSUP. Another failure ends that case alone: hours of other cases are not lost. Fails if nothing was
/// measured.
Result<> run_rounds(const Options& options, Results& results,
                    const std::function<Result<Ends>(const Case&)>& ends_of);

} // namespace teamo::bench
