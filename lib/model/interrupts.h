// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A port's interrupts as the kernel shows them, and what of them can be set.
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
    unsigned irq = 0;    ///< in /proc/irq
    std::string name{};  ///< of its handler: "eth0-rx-0"
    bool movable = true; ///< false: the kernel lets nobody set its affinity (a managed one)
    CpuList affinity{};  ///< smp_affinity_list: where it may go
    CpuList
        effective{}; ///< where it goes; only true once it has come since affinity was set. Empty: not told
    std::uint64_t count = 0; ///< how often it came, on all CPUs
    bool operator==(const IrqVector&) const = default;
};

/// A kernel thread that polls a queue in the place of its interrupt's CPU (threaded NAPI).
struct NapiThread {
    pid_t pid = 0;
    CpuList affinity{};
    bool operator==(const NapiThread&) const = default;
};

/// What serves one queue: its receive and transmit vectors together.
struct QueueVectors {
    unsigned queue = 0;
    std::vector<IrqVector> vectors{}; ///< at least one
    std::optional<NapiThread> thread{};
    std::optional<NapiThread> second_thread{}; ///< where receiving and sending have one each (igb)
    bool operator==(const QueueVectors&) const = default;
};

/// Where the grouping comes from.
enum class VectorSource : std::uint8_t {
    none,    ///< no interrupts: a virtual device, or one that is down
    netdev,  ///< the kernel's netdev family names the queue's vector (6.8 and later)
    names,   ///< the handlers' names
    counts,  ///< which counts rise with which queue's packets
    ungrouped ///< nothing tells the queues apart: all vectors are one group
};

constexpr const char* name_of(VectorSource source) {
    constexpr std::array names{"none", "netdev", "names", "counts", "ungrouped"};
    return names[static_cast<std::size_t>(source)];
}

struct PortInterrupts {
    VectorSource source = VectorSource::none;
    std::vector<QueueVectors> queues{}; ///< by queue number
    std::vector<IrqVector> others{};    ///< tell of the link, of commands done
    int node = -1;                      ///< NUMA node of its device; -1: none
    unsigned receive_queues = 0, transmit_queues = 0;
    std::vector<CpuList> xps{}; ///< by transmit queue: xps_cpus; empty where there is only one
    std::vector<CpuList> rps{}; ///< by receive queue: rps_cpus
    bool operator==(const PortInterrupts&) const = default;
};

/// All of its vectors, the queues' first.
inline std::vector<IrqVector> vectors_of(const PortInterrupts& port) {
    std::vector<IrqVector> all{};
    for (const auto& queue : port.queues)
        all.insert(all.end(), queue.vectors.begin(), queue.vectors.end());
    all.insert(all.end(), port.others.begin(), port.others.end());
    return all;
}

// ---- what can be set ---------------------------------------------------------------------------

/// One thing with a list of CPUs.
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

/// A queue's choice of CPUs, and no place where something runs.
constexpr bool is_mask(const CpuSetting& setting) {
    return setting.kind == CpuSetting::Kind::xps || setting.kind == CpuSetting::Kind::rps;
}

using CpuSettings = std::map<CpuSetting, CpuList>;

/// One that was set: what it was before, and what it was set to. It is only put back while it is still ours.
struct SetCpuList {
    CpuList before{}, ours{};
    bool operator==(const SetCpuList&) const = default;
};

using SetCpus = std::map<CpuSetting, SetCpuList>;

constexpr const char* name_of(CpuSetting::Kind kind) {
    constexpr std::array names{"irq", "thread", "xps", "rps"};
    return names[static_cast<std::size_t>(kind)];
}

/// A CPU that another team of this machine has given to one of its ports.
struct CpuClaim {
    std::string owner; ///< "team1 eth4"
    unsigned cpu = 0;
    double load = 1;
    bool standby = false;
    bool operator==(const CpuClaim&) const = default;
};

} // namespace teamo
