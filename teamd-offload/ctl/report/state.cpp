// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/report/state.h"

#include <algorithm>

namespace teamo::ctl {

const PortStatus* find_port(const TeamState& state, std::string_view name) {
    const auto found = std::ranges::find(state.ports, name, &PortStatus::name);
    return found == state.ports.end() ? nullptr : &*found;
}

const PortBalance* find_balance(const TeamState& state, std::string_view port) {
    if (!state.balance) return nullptr;
    const auto found = std::ranges::find(state.balance->ports, port, &PortBalance::name);
    return found == state.balance->ports.end() ? nullptr : &*found;
}

std::vector<const PortStatus*> carriers(const TeamState& state) {
    std::vector<const PortStatus*> list;
    for (const auto& port : state.ports)
        if (port.transmits || (state.runner == "activebackup" && port.link_up)) list.push_back(&port);
    return list;
}

} // namespace teamo::ctl
