// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How fast the machine itself is at the time of a round: a virtual machine may have less of its host at
// times, which no counter of the guest shows.
#pragma once

#include <optional>

namespace teamo::bench {

/// Blocks of 64 KiB that all CPUs of this process together copy and add up in a millisecond. Takes 10 ms.
/// Nothing else may run meanwhile. None: the kernel does not tell the
/// CPUs, or has no memory for a thread.
std::optional<double> machine_speed();

} // namespace teamo::bench
