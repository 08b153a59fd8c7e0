// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Reads /proc/irq and /sys without the daemon's code.
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

/// The vectors whose handlers have the name of the card, or of its virtio device.
std::vector<IrqLine> vectors_of(const std::string& card);
/// A vector for link changes, not for a queue; it rarely occurs.
bool is_link_vector(const IrqLine& vector);
CpuList effective(unsigned irq);
CpuList affinity(unsigned irq);
/// Its count for each CPU.
std::vector<std::uint64_t> counts(unsigned irq);
/// smp_affinity_list of every interrupt with a handler, by number.
std::map<unsigned, std::string> all_affinities();
/// "33: 0-3, now 2; …": the interrupts whose affinity is another one now; empty: none.
std::string changed_since(const std::map<unsigned, std::string>& before);

std::string pci_address(const std::string& card);
std::string driver(const std::string& card);

/// The CPUs of each port, as the daemon reports them.
std::map<std::string, CpuList> planned_cpus(const TeamUnderTest& team,
                                            const std::vector<std::string>& command = {"interrupts"});

} // namespace teamo::test
