// SPDX-License-Identifier: LGPL-2.1-or-later
//
// /proc/irq and /sys as a person reads them, without the daemon's own readers.
#pragma once

#include "base/cpu_list.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace teamo::test {

class TeamUnderTest;

struct IrqLine {
    unsigned irq = 0;
    std::string name;
};

/// Of handlers that bear the card's name, or its virtio device's.
std::vector<IrqLine> vectors_of(const std::string& card);
/// Not of a queue: it hardly ever comes.
bool tells_of_link(const IrqLine& vector);
CpuList effective(unsigned irq);
CpuList affinity(unsigned irq);
/// How often it came, by CPU.
std::vector<std::uint64_t> counts(unsigned irq);
/// smp_affinity_list of every interrupt that bears a name, by number.
std::map<unsigned, std::string> all_affinities();

std::string pci_address(const std::string& card);
std::string driver(const std::string& card);

/// By port, the CPUs that the daemon says it gave it.
std::map<std::string, CpuList> planned_cpus(const TeamUnderTest& team);

} // namespace teamo::test
