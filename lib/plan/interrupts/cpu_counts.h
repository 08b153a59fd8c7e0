// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How many CPUs each port gets.
#pragma once

#include "model/cpus.h"

#include <vector>

namespace teamo {

struct CountedPort {
    int node = -1;
    unsigned fixed = 0; ///< CPUs it has in any case
    unsigned most = 1;  ///< it can use; at least what is fixed, and at least 1
    unsigned now = 0;   ///< it has at present
    double load = 1;
};

/// By port: first one for each, also where too few are there for that; then further ones to who has the
/// most load for each CPU.
/// - Further ones are cores of their own, for a second thread gains interrupts nothing
///   (Documentation/networking/scaling.rst: "HT has shown no benefit in initial tests"), and of the port's
///   own node, if that has any.
/// - A port keeps as many as it has now, unless another that has less of them for its load gains a fifth.
/// `free`: the eligible CPUs that nobody has. `taken`: those that somebody has.
std::vector<unsigned> cpu_counts(const CpuTopology& topology, const CpuList& free, const CpuList& taken,
                                 const std::vector<CountedPort>& ports);

} // namespace teamo
