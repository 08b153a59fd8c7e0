// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/report/state.h"

#include "text/numbers.h"

#include <algorithm>

namespace teamo::ctl {

Result<> require_part(bool reported) {
    if (reported) return {};
    return fail(ENOTSUP, "the daemon is too old for this command; restart it to run the installed version");
}

const PortStatus* find_port(const TeamState& state, std::string_view name) {
    const auto found = std::ranges::find(state.ports, name, &PortStatus::name);
    return found == state.ports.end() ? nullptr : &*found;
}

const PortBalance* find_balance(const TeamState& state, std::string_view port) {
    if (!state.balance) return nullptr;
    const auto found = std::ranges::find(state.balance->ports, port, &PortBalance::name);
    return found == state.balance->ports.end() ? nullptr : &*found;
}

std::vector<std::string> names_of(const std::vector<const PortStatus*>& ports) {
    std::vector<std::string> names;
    for (const auto* port : ports)
        names.push_back(port->name);
    return names;
}

std::vector<const PortStatus*> carriers(const TeamState& state) {
    std::vector<const PortStatus*> list;
    for (const auto& port : state.ports)
        if (port.transmits || can_take_over(port, state.ports)) list.push_back(&port);
    return list;
}

bool has_weights(const TeamState& state) {
    return std::ranges::any_of(state.ports, [](const PortStatus& port) { return port.weight.has_value(); });
}

std::vector<const PortStatus*> carriers_without(const TeamState& state, std::string_view without) {
    auto list = carriers(state);
    std::erase_if(list, [&](const PortStatus* port) { return port->name == without; });
    const bool others_send = std::ranges::any_of(list, &PortStatus::transmits);
    if (state.runner != "activebackup" && (others_send || state.runner == "lacp"))
        std::erase_if(list, [](const PortStatus* port) { return !port->transmits; });
    return list;
}

std::optional<std::uint64_t> growth_of(std::uint64_t PortCounters::* counter, const PortStatus& port,
                                       const TeamState& earlier) {
    const auto* before = find_port(earlier, port.name);
    if (before == nullptr || port.counters.*counter < before->counters.*counter) return std::nullopt;
    return port.counters.*counter - before->counters.*counter;
}

Rates rates_between(const TeamState& earlier, const TeamState& later, std::chrono::duration<double> between) {
    Rates rates;
    if (between.count() <= 0) return rates;
    for (const auto& port : later.ports)
        if (const auto sent = growth_of(&PortCounters::tx_bytes, port, earlier))
            rates[port.name] = static_cast<double>(*sent) / between.count();
    return rates;
}

double team_load(const TeamState& state, const Rates& rates) {
    double sum = 0, most = 0;
    for (const auto& entry : rates) {
        sum += entry.second;
        most = std::max(most, entry.second);
    }
    return state.runner == "broadcast" ? most : sum;
}

Capacity capacity_without(const TeamState& state, std::string_view without) {
    Capacity capacity;
    double slowest = 0, sum = 0;
    for (const auto* port : carriers_without(state, without)) {
        ++capacity.ports;
        if (!port->link.speed) {
            capacity.unknown.push_back(port->name);
            continue;
        }
        const auto speed = *port->link.speed * bytes_per_megabit;
        slowest = slowest == 0 ? speed : std::min(slowest, speed);
        sum += speed;
    }
    const auto known = static_cast<double>(capacity.ports - capacity.unknown.size());
    if (state.runner == "activebackup" || state.runner == "broadcast")
        capacity.bytes = slowest;
    else if (state.runner == "roundrobin")
        capacity.bytes = slowest * known;
    else
        capacity.bytes = sum;
    return capacity;
}

} // namespace teamo::ctl
