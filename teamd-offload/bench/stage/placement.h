// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which CPUs do what while a case is measured. Pure.
#pragma once

#include "base/cpu_list.h"
#include "base/result.h"
#include "bench/results.h"

namespace teamo::bench {

/// The CPUs of an end: of its load generators and its daemon, and where the packets of its ports arrive
/// (RPS).
struct EndCpus {
    CpuList threads{}, packets{};
    bool operator==(const EndCpus&) const = default;
};

struct Placement {
    EndCpus host{}, far{};
    bool apart = false; ///< the ends share no CPU, so each end's whole cost is on its own
    bool operator==(const Placement&) const = default;
};

/// A veth's sender also does the softirq of the receiver on its own CPU, unless RPS moves it: so "apart" is
/// exact only with both. ENOTSUP: that binding needs more CPUs.
Result<Placement> place(const CpuList& cpus, Binding binding);

} // namespace teamo::bench
