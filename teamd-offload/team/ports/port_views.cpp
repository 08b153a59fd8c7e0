// SPDX-License-Identifier: LGPL-2.1-or-later
#include "team/ports/port_views.h"

#include <linux/if.h>

namespace teamo {

std::vector<Interrupts::Port> interrupt_ports(const TeamContext& context, const PortSet& ports,
                                              std::optional<IfIndex> active) {
    constexpr double usual_speed = 1000; // Mbit/s; assumed if a port's speed is not known
    const bool backup = std::holds_alternative<ActiveBackupRunner>(context.config().runner);
    std::vector<Interrupts::Port> list;
    for (const auto& port : ports.all()) {
        const auto* link = context.link(port.index);
        list.push_back({.index = port.index,
                        .name = link == nullptr ? port.name : link->name,
                        .up = link != nullptr && (link->flags & IFF_UP) != 0,
                        .load = port.modes.speed ? *port.modes.speed / usual_speed : 1,
                        .standby = backup && active != port.index});
    }
    return list;
}

std::vector<PortCpus::Port> cpu_ports(const PortSet& ports) {
    std::vector<PortCpus::Port> list;
    for (const auto& port : ports.all())
        list.push_back(
            {.index = port.index, .name = port.name, .slot = port.slot, .has_link = port.had_link});
    return list;
}

std::vector<Balancing::Port> balanced_ports(const PortSet& ports, const Tables& tables,
                                            const Offloads& offloads) {
    std::vector<Balancing::Port> list;
    for (const auto& port : ports.all())
        list.push_back({.index = port.index,
                        .slot = port.slot,
                        .name = port.name,
                        .speed = port.modes.speed.value_or(0),
                        .segments = offloads.features(port.index).active.contains(tso),
                        .transmits = (tables.transmit & bit(port.slot)) != 0});
    return list;
}

} // namespace teamo
