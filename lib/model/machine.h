// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CPUs of this machine and the PCI location of a card, as the kernel shows them (/sys).
#pragma once

#include "base/cpu_list.h"

#include <algorithm>
#include <string>
#include <vector>

namespace teamo {

struct Cpu {
    unsigned number = 0;
    unsigned core = 0;        ///< number of the lowest CPU of its core (topology/core_cpus_list)
    unsigned cache = 0;       ///< number of the lowest CPU that shares its last-level cache
    unsigned node = 0;        ///< NUMA node; 0 on machines without NUMA
    unsigned capacity = 1024; ///< cpu_capacity; 1024: the fastest CPUs
    bool online = true;
    bool isolated = false;  ///< isolcpus, nohz_full, or in an isolated cpuset partition
    bool interrupts = true; ///< in /proc/irq/default_smp_affinity (irqaffinity=), not banned by irqbalance
    bool operator==(const Cpu&) const = default;
};

struct CpuTopology {
    std::vector<Cpu> cpus; ///< all present CPUs, sorted by number
    /// [from][to] from node/nodeN/distance; 10: the same node. Empty: one node.
    std::vector<std::vector<unsigned>> distances;
    bool operator==(const CpuTopology&) const = default;

    const Cpu* find(unsigned number) const {
        const auto found = std::ranges::lower_bound(cpus, number, {}, &Cpu::number);
        return found == cpus.end() || found->number != number ? nullptr : &*found;
    }
    /// The online CPUs that are `allowed`; if that is empty, those that are not isolated.
    CpuList eligible(const CpuList& allowed) const {
        CpuList list;
        for (const auto& cpu : cpus)
            if (cpu.online && (allowed.empty() ? !cpu.isolated : std::ranges::count(allowed, cpu.number) > 0))
                list.push_back(cpu.number);
        return list;
    }
    /// The same for interrupts: without a list also none that the administrator keeps free of interrupts.
    CpuList eligible_for_interrupts(const CpuList& allowed) const {
        auto list = eligible(allowed);
        if (allowed.empty())
            std::erase_if(list, [this](unsigned number) { return !find(number)->interrupts; });
        return list;
    }
    /// No interrupts on these CPUs without a list, unless that leaves none.
    void keep_free(const CpuList& banned) {
        const auto is_left = [&banned](const Cpu& cpu) {
            return cpu.online && !cpu.isolated && cpu.interrupts && !contains(banned, cpu.number);
        };
        if (std::ranges::none_of(cpus, is_left)) return;
        for (auto& cpu : cpus)
            if (contains(banned, cpu.number)) cpu.interrupts = false;
    }
    /// From a device's node to a CPU's; 10 if the device has no node or the distance is not known.
    unsigned distance(int from, unsigned to) const {
        constexpr unsigned local = 10;
        if (from < 0 || static_cast<std::size_t>(from) >= distances.size()) return local;
        const auto& row = distances[static_cast<std::size_t>(from)];
        return to < row.size() ? row[to] : local;
    }
};

/// Speed and width of a PCI Express link.
struct PcieLink {
    double speed = 0;   ///< GT/s for each lane: 2.5, 5, 8, 16 …; 0: not known
    unsigned width = 0; ///< lanes; 0: not known
    bool operator==(const PcieLink&) const = default;

    bool is_known() const { return speed > 0 && width > 0; }
    /// Mbit/s in one direction after line coding (8b/10b up to 5 GT/s, 128b/130b up to 32, 242 of 256 bytes
    /// above); packet headers take about 10 to 20 % of it. 0: not known.
    double mbits() const {
        const double code = speed <= 5 ? 0.8 : speed <= 32 ? 128.0 / 130 : 242.0 / 256;
        return speed * 1000 * code * width;
    }
};

struct DevicePlace {
    std::string address;           ///< "0000:03:00.0"; empty: not on the PCI bus
    std::vector<std::string> path; ///< bridges above it, the root port first
    std::vector<PcieLink> above{}; ///< by `path`: the present links of the bridges
    int node = -1;                 ///< NUMA node; -1: none
    PcieLink current{};            ///< the present link of the card
    PcieLink card{};               ///< the card's maximum
    PcieLink slot{};               ///< the smallest maximum of the bridges above; not known: no bridge
    /// The address of the card: of a virtual function that of its physical function; empty: it is on no PCI
    /// card, or on a bus below one (USB).
    std::string physical{};
    bool operator==(const DevicePlace&) const = default;

    /// The maximum of card and slot together.
    PcieLink best() const {
        if (!card.is_known() || !slot.is_known()) return card.is_known() ? card : slot;
        return {.speed = std::min(card.speed, slot.speed), .width = std::min(card.width, slot.width)};
    }
};

} // namespace teamo
