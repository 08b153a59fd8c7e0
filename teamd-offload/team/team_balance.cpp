// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What balancing is told of a team.
#include "team/team.h"

#include <algorithm>

namespace teamo {

Result<> Team::start_balancing(sd_event* loop) {
    auto balancing = Balancing::make(loop, log_, *datapath_,
                                     {.ports = [this] { return balanced_ports(); },
                                      .tables = [this]() -> const Tables& { return tables_; },
                                      .owners = [this]() -> BucketOwners& { return journal_.owners; },
                                      .pass = [this] { pass(); }},
                                     configuration_.team.balance);
    if (!balancing) return tl::unexpected(balancing.error());
    balancing_ = std::move(*balancing);
    auto cpus = PortCpus::make(
        loop, log_,
        {.links = [this]() -> const Links& { return observer_->links(); }, .changed = [this] { pass(); }});
    if (!cpus) return tl::unexpected(cpus.error());
    port_cpus_ = std::move(*cpus);
    return {};
}

std::vector<Balancing::Port> Team::balanced_ports() const {
    std::vector<Balancing::Port> list;
    for (const auto& port : ports_)
        list.push_back({.index = port.index,
                        .slot = port.slot,
                        .name = port.name,
                        .speed = port.modes.speed.value_or(0),
                        .segments = offloads_->features(port.index).active.contains(tso),
                        .transmits = (tables_.transmit & bit(port.slot)) != 0,
                        .cpu_load = port_cpus_->load(port.index),
                        .interrupt_cpus = port_cpus_->interrupt_cpus(port.index)});
    return list;
}

std::vector<PortCpus::Port> Team::ports_with_cpus() const {
    std::vector<PortCpus::Port> list;
    for (const auto& port : ports_)
        list.push_back({.index = port.index, .slot = port.slot, .has_link = port.had_link});
    return list;
}

} // namespace teamo
