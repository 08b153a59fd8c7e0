// SPDX-License-Identifier: LGPL-2.1-or-later
//
// From a port's CPUs to what of it is set: affinities of vectors and threads, XPS, RPS.
#pragma once

#include "model/config.h"
#include "model/cpus.h"
#include "model/interrupts.h"

namespace teamo {

/// What shall be set. `cpus`: by queue, as planned; empty: nothing. Vectors beside the queues' go with the
/// first one. What the kernel lets nobody set is left out.
CpuSettings interrupt_settings(const PortInterrupts& port, const std::vector<unsigned>& cpus,
                               const CpuTopology& topology, const InterruptConfig& config);

/// Of `wanted` what is there and set otherwise now.
CpuSettings missing(const CpuSettings& now, const CpuSettings& wanted);

/// How a vector stands to what is wanted of it.
enum class AffinityState : std::uint8_t {
    right,   ///< it goes where it shall, and nowhere else
    waiting, ///< its affinity is right; it goes there when it comes next (x86 without interrupt remapping)
    astray,  ///< its affinity is another
};
AffinityState affinity_state(const IrqVector& vector, const CpuList& wanted);

constexpr const char* name_of(AffinityState affinity_state) {
    constexpr std::array names{"right", "waiting", "astray"};
    return names[static_cast<std::size_t>(affinity_state)];
}

} // namespace teamo
