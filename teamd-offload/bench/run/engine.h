// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.h"
#include "bench/run/plan.h"

namespace teamo::bench {

/// Measures the cases of the options between two hosts in namespaces of their own (--self).
Result<Results> measure_self(const Options& options);

} // namespace teamo::bench
