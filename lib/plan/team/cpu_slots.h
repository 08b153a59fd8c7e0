// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Assigns CPUs to ports for transmit hash "cpu". docs/adr/0013.
#pragma once

#include "base/cpu_list.h"
#include "base/named.h"

#include <span>
#include <vector>

namespace teamo {

/// A port and the CPUs that serve its interrupts; empty if they are not known.
struct ServedPort {
    Slot slot;
    CpuList interrupt_cpus;
    bool operator==(const ServedPort&) const = default;
};

/// By CPU number: the slot of each CPU in `online`; Slot{0} for other CPUs, and for all if there are no
/// ports.
/// - A CPU that serves the interrupts of one port gets that port.
/// - A CPU that serves several ports gets the one with the fewest CPUs.
/// - The other CPUs are distributed so that the ports have equal numbers, first to the port with the nearest
///   interrupt CPU by number.
/// The order of the ports does not matter.
std::vector<Slot> cpu_slots(std::span<const ServedPort> ports, const CpuList& online);

/// The CPUs that send through the slot's port.
CpuList cpus_of(const std::vector<Slot>& cpu_slots, Slot slot);

} // namespace teamo
