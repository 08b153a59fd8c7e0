// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A port's interrupts as the kernel shows them, and the settings that can be changed.
#pragma once

#include "base/cpu_list.h"
#include "base/named.h"

#include <sys/types.h>

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace teamo {

/// One interrupt line or MSI vector that has a handler.
struct IrqVector {
    unsigned irq = 0;    ///< number in /proc/irq
    std::string name{};  ///< of its handler: "eth0-rx-0"
    bool movable = true; ///< false: a managed interrupt, whose affinity only the kernel sets
    CpuList affinity{};  ///< smp_affinity_list
    /// effective_affinity_list; stale until the first interrupt after a change. Empty: it is not reported.
    CpuList effective{};
    std::uint64_t count = 0; ///< of interrupts, on all CPUs
    bool operator==(const IrqVector&) const = default;
};

/// A kernel thread that polls a queue instead of the interrupt's softirq (threaded NAPI).
struct NapiThread {
    pid_t pid = 0;
    CpuList affinity{};
    bool operator==(const NapiThread&) const = default;
};

/// What serves one queue: its receive and transmit vectors, and its threads.
struct QueueVectors {
    unsigned queue = 0;
    std::vector<IrqVector> vectors{}; ///< at least one
    std::optional<NapiThread> thread{};
    std::optional<NapiThread> second_thread{}; ///< if receive and transmit have separate ones (igb)
    bool operator==(const QueueVectors&) const = default;
};

/// The source of the assignment of vectors to queues.
enum class VectorSource : std::uint8_t {
    none,     ///< no interrupts: a virtual device, or one that is down
    netdev,   ///< the kernel's netdev family reports each queue's vector (6.8 and later)
    names,    ///< the handlers' names
    counts,   ///< learned: interrupt counts that rise with a queue's packets
    ungrouped ///< not known: all vectors are one group
};
template <>
inline constexpr std::array<std::string_view, 5> enum_names<VectorSource>{"none", "netdev", "names", "counts",
                                                                          "ungrouped"};

struct PortInterrupts {
    VectorSource source = VectorSource::none;
    std::vector<QueueVectors> queues{}; ///< by queue number
    std::vector<IrqVector> others{};    ///< without a queue: link changes, completed commands
    std::vector<IrqVector> spare{};     ///< of queues that the device does not use now: left alone
    int node = -1;                      ///< NUMA node of its device; -1: none
    unsigned receive_queues = 0, transmit_queues = 0;
    std::vector<CpuList> xps{};  ///< by transmit queue: xps_cpus; empty if there is only one queue
    std::vector<CpuList> rps{};  ///< by receive queue: rps_cpus
    bool hidden_threads = false; ///< threaded NAPI is on, and /proc shows none of its threads
    bool operator==(const PortInterrupts&) const = default;
};

/// All of its vectors but the spare ones, the queues' first.
inline std::vector<IrqVector> vectors_of(const PortInterrupts& port) {
    std::vector<IrqVector> all{};
    for (const auto& queue : port.queues)
        all.insert(all.end(), queue.vectors.begin(), queue.vectors.end());
    all.insert(all.end(), port.others.begin(), port.others.end());
    return all;
}

// ---- what can be set ---------------------------------------------------------------------------

/// One setting with a CPU list.
struct CpuSetting {
    enum class Kind : std::uint8_t {
        irq,    ///< /proc/irq/N/smp_affinity_list
        thread, ///< affinity of the NAPI thread of process id N
        xps,    ///< queues/tx-N/xps_cpus
        rps,    ///< queues/rx-N/rps_cpus
    };
    Kind kind = Kind::irq;
    unsigned number = 0;
    auto operator<=>(const CpuSetting&) const = default; // NOLINT(modernize-use-nullptr): as named.h
};

template <>
inline constexpr std::array<std::string_view, 4> enum_names<CpuSetting::Kind>{"irq", "thread", "xps", "rps"};

/// Whether it is a queue's mask, and not an affinity.
constexpr bool is_mask(const CpuSetting& setting) {
    return setting.kind == CpuSetting::Kind::xps || setting.kind == CpuSetting::Kind::rps;
}

using CpuSettings = std::map<CpuSetting, CpuList>;

/// A setting that we changed. Restored only while it still has a value of ours.
struct SetCpuList {
    CpuList before{}, ours{};
    CpuList leaving{}; ///< our former value, until the kernel has accepted `ours`; empty: it has
    bool operator==(const SetCpuList&) const = default;
};

using SetCpus = std::map<CpuSetting, SetCpuList>;

/// A CPU that another team of this machine uses for one of its ports.
struct CpuClaim {
    std::string owner; ///< "team1 eth4"
    unsigned cpu = 0;
    double load = 1;
    bool standby = false;
    bool operator==(const CpuClaim&) const = default;
};

/// Of a port, one for each of its CPUs; its load is divided among them.
inline std::vector<CpuClaim> claims_of(const std::string& team, const std::string& port, const CpuList& cpus,
                                       double load, bool standby) {
    std::vector<CpuClaim> claims;
    for (const auto cpu : cpus)
        claims.push_back({.owner = team + ' ' + port,
                          .cpu = cpu,
                          .load = load / static_cast<double>(cpus.size()),
                          .standby = standby});
    return claims;
}

} // namespace teamo
