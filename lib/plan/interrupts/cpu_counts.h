// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The number of CPUs for each port.
#pragma once

#include "model/cpus.h"

#include <vector>

namespace teamo {

struct CountedPort {
    int node = -1;
    unsigned fixed = 0; ///< CPUs that it keeps in any case
    unsigned most = 1;  ///< CPUs that it can use; at least `fixed`, and at least 1
    unsigned now = 0;   ///< CPUs that it has at present
    double load = 1;
};

/// By port. Each port gets one CPU, even if there are fewer CPUs than ports; then the port with the most load
/// per CPU gets the next one.
/// - Further CPUs are whole cores, because a second hardware thread does not help interrupts
///   (Documentation/networking/scaling.rst: "HT has shown no benefit in initial tests"), and are on the
///   port's own node, if that has any.
/// - A port keeps as many as it has now, unless the CPU lowers another port's load per CPU by a fifth.
/// `free`: eligible CPUs not in use. `taken`: CPUs in use.
std::vector<unsigned> cpu_counts(const CpuTopology& topology, const CpuList& free, const CpuList& taken,
                                 const std::vector<CountedPort>& ports);

} // namespace teamo
