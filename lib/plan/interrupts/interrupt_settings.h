// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The settings that follow from a port's CPUs: affinities of vectors and threads, XPS, RPS
// (Documentation/networking/scaling.rst); and how they compare with the present ones.
#pragma once

#include "model/config.h"
#include "model/interrupts.h"
#include "model/machine.h"

#include <span>

namespace teamo {

/// False: the configuration wants no settings of this kind.
bool is_switched_on(CpuSetting::Kind kind, const InterruptConfig& config);

/// The wanted settings. `cpus`: by queue, as planned; empty: no settings. Vectors without a queue get the
/// first CPU. Managed interrupts are left out.
CpuSettings interrupt_settings(const PortInterrupts& port, const std::vector<unsigned>& cpus,
                               const CpuTopology& topology, const InterruptConfig& config);

/// xps_cpus by transmit queue. Each online CPU uses the queue whose interrupt CPU is nearest: the same CPU,
/// then the same core, cache, node, then by NUMA distance; of equal queues the one with the fewest CPUs.
/// Isolated CPUs are included: they send too, and the kernel spreads CPUs without a queue by hash.
/// `queue_cpus`: the interrupt CPU of each transmit queue.
std::vector<CpuList> plan_xps(const CpuTopology& topology, std::span<const unsigned> queue_cpus);

/// rps_cpus by receive queue: the online CPUs that share the cache of its interrupt CPU. Not isolated ones:
/// the kernel removes them and refuses a list of isolated CPUs only (net/core/net-sysfs.c).
/// `queue_cpus`: the interrupt CPU of each receive queue.
std::vector<CpuList> plan_rps(const CpuTopology& topology, std::span<const unsigned> queue_cpus);

/// The settings of `wanted` that exist in `now` with another value.
CpuSettings missing(const CpuSettings& now, const CpuSettings& wanted);

/// Compares a vector with its wanted CPUs.
enum class AffinityState : std::uint8_t {
    ok,        ///< affinity and effective affinity are as wanted
    pending,   ///< its affinity is set; the next interrupt moves it (x86 without interrupt remapping)
    misplaced, ///< its affinity is another one
};
template <>
inline constexpr std::array<std::string_view, 3> enum_names<AffinityState>{"ok", "pending", "misplaced"};

AffinityState affinity_state(const IrqVector& vector, const CpuList& wanted);

/// What may have moved an interrupt.
struct DriftFacts {
    bool cpus_changed = false; ///< a CPU went offline or came online since the last pass
    bool came_up = false;      ///< the port came up or its driver reset it, which makes new vectors
    bool as_hint = false;      ///< its affinity is the driver's affinity_hint
    std::string irqbalance{};  ///< "irqbalance (pid 812)" if one runs that does not honour our ban
    std::string udev{};        ///< "IRQAffinityPolicy=spread in /etc/systemd/network/10-x.link"
};
struct DriftCause {
    std::string text;    ///< "probably by irqbalance (pid 812)"
    bool kernel = false; ///< by the kernel, or a driver's new vectors: not repeated, so not contested
};
/// The most probable cause; facts that are certain come first. The kernel keeps no record of it.
DriftCause cause_of(const DriftFacts& facts);

} // namespace teamo
