// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The settings that follow from a port's CPUs: affinities of vectors and threads, XPS, RPS.
#pragma once

#include "model/config.h"
#include "model/cpus.h"
#include "model/interrupts.h"

namespace teamo {

/// The wanted settings. `cpus`: by queue, as planned; empty: no settings. Vectors without a queue get the
/// first CPU. Managed interrupts are left out.
CpuSettings interrupt_settings(const PortInterrupts& port, const std::vector<unsigned>& cpus,
                               const CpuTopology& topology, const InterruptConfig& config);

/// The settings of `wanted` that exist in `now` with another value.
CpuSettings missing(const CpuSettings& now, const CpuSettings& wanted);

/// Compares a vector with its wanted CPUs.
enum class AffinityState : std::uint8_t {
    ok,        ///< affinity and effective affinity are as wanted
    pending,   ///< its affinity is set; the next interrupt moves it (x86 without interrupt remapping)
    misplaced, ///< its affinity is another one
};
AffinityState affinity_state(const IrqVector& vector, const CpuList& wanted);

constexpr const char* name_of(AffinityState affinity_state) {
    constexpr std::array names{"ok", "pending", "misplaced"};
    return names[static_cast<std::size_t>(affinity_state)];
}

} // namespace teamo
