// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The ports as each subsystem needs them.
#pragma once

#include "team/ports/port_set.h"

#include <optional>
#include <vector>

namespace teamo {

/// `standby`: in an activebackup team all ports but `active`.
std::vector<Interrupts::Port> interrupt_ports(const TeamContext& context, const PortSet& ports,
                                              std::optional<IfIndex> active);
std::vector<PortCpus::Port> cpu_ports(const PortSet& ports);
std::vector<Balancing::Port> balanced_ports(const PortSet& ports, const Tables& tables,
                                            const Offloads& offloads);

} // namespace teamo
