// SPDX-License-Identifier: LGPL-2.1-or-later
//
// By which port each CPU sends, where the hash is "cpu". docs/adr/0013.
#pragma once

#include "base/cpu_list.h"
#include "base/named.h"

#include <span>
#include <vector>

namespace teamo {

/// A port and the CPUs that serve its interrupts; none where they are not known.
struct ServedPort {
    Slot slot;
    CpuList interrupt_cpus;
    bool operator==(const ServedPort&) const = default;
};

/// By CPU number, the slot of each CPU of `online`; Slot{0} for others, and for all without ports.
/// - A CPU that serves the interrupts of one port has that port.
/// - One that serves several has the one of them that has the fewest CPUs.
/// - The others are dealt out so that the ports have as many CPUs each as can be, to the port with an
/// interrupt
///   CPU nearest by number first.
/// The order of the ports does not count.
std::vector<Slot> cpu_slots(std::span<const ServedPort> ports, const CpuList& online);

/// The CPUs that send by the slot.
CpuList cpus_of(const std::vector<Slot>& cpu_slots, Slot slot);

} // namespace teamo
