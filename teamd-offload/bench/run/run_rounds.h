// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "bench/run/plan.h"
#include "bench/run/traffic.h"

#include <functional>

namespace teamo::bench {

/// Runs the rounds of all cases in turn, and shows the progress. A case is skipped if `ends_of` fails with
/// ENOTSUP. Another failure ends that case alone: hours of other cases are not lost. Fails if nothing was
/// measured.
Result<> run_rounds(const Options& options, Results& results,
                    const std::function<Result<Ends>(const Case&)>& ends_of);

} // namespace teamo::bench
