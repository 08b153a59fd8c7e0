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

/// Compares a vector with its wanted CPUs.
enum class AffinityState : std::uint8_t {
    ok,        ///< it goes to the wanted CPUs only
    pending,   ///< its affinity is set; the next interrupt moves it (x86 without interrupt remapping)
    misplaced, ///< its affinity is another one
};
AffinityState affinity_state(const IrqVector& vector, const CpuList& wanted);

constexpr const char* name_of(AffinityState affinity_state) {
    constexpr std::array names{"ok", "pending", "misplaced"};
    return names[static_cast<std::size_t>(affinity_state)];
}

} // namespace teamo
