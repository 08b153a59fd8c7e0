// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/report/drain_forecast.h"

#include "balance/balancer.h"
#include "text/numbers.h"
#include "text/table.h"

#include <fmt/format.h>

#include <algorithm>

namespace teamo::ctl {
namespace {

/// Numbers for the ports of a state, from 1.
Slot slot_in(const TeamState& state, std::string_view port) {
    const auto found = std::ranges::find(state.ports, port, &PortStatus::name);
    const auto number = found == state.ports.end() ? 0 : found - state.ports.begin() + 1;
    return Slot{static_cast<std::uint8_t>(number)};
}

/// As the daemon places them: at once, and by load where balancing is on.
BucketOwners owners_then(const TeamState& state, const DrainForecast& forecast) {
    const auto& balance = *state.balance;
    BucketOwners owners{};
    SlotSet known = 0, left = 0;
    Weights weights = equal_weights;
    std::vector<BalancedPort> ports;
    for (const auto& other : forecast.others) {
        const auto slot = slot_in(state, other.port);
        left |= bit(slot);
        const auto weight = find_port(state, other.port)->weight;
        weights[slot.value] = weight.value_or(1);
        const auto* known_port = find_balance(state, other.port);
        ports.push_back({.slot = slot,
                         .capacity = other.capacity,
                         .segments = known_port == nullptr || known_port->segments,
                         .cpu_load = known_port == nullptr ? 0 : known_port->cpu_load,
                         .weight = static_cast<double>(weight.value_or(0))});
    }
    apply_weights(ports);
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
        owners[bucket] = slot_in(state, balance.leaves_by[bucket]);
        known |= bit(owners[bucket]);
    }
    owners = settle(owners, known | left, left, balance.config.on, weights);
    return balance.config.on ? place(owners, balance.loads, ports, {.aware = balance.config.aware}).owners
                             : owners;
}

bool hashes_flows(const TeamState& state) {
    return state.balance && state.balance->counted && !has(state.balance->tx_hash, HashField::cpu);
}

/// Without the loads of buckets: gives the ports their shares of all that the team sends.
void share_out(const TeamState& state, double load, std::vector<DrainShare>& ports) {
    const bool each_has_all = state.runner == "activebackup" || state.runner == "broadcast";
    const bool by_weight = state.balance && !has(state.balance->tx_hash, HashField::cpu);
    const auto weight_of = [&](const DrainShare& share) {
        return by_weight ? find_port(state, share.port)->weight.value_or(1) : 1;
    };
    double sum = 0;
    for (const auto& share : ports)
        sum += weight_of(share);
    for (auto& share : ports)
        share.then = each_has_all ? load : load * weight_of(share) / sum;
}

/// As the daemon counts them: those that stand by too, but with LACP only ports of the same aggregator.
bool is_able(const TeamState& state, const PortStatus& port) {
    if (port.drain.phase != DrainPhase::none) return false;
    return port.transmits || (state.runner == "lacp" ? port.receives : can_take_over(port, state.ports));
}

/// Those that carry without the port.
std::vector<const PortStatus*> carriers_then(const TeamState& state, const PortStatus& port, bool forced) {
    auto list = carriers_without(state, port.name);
    std::erase_if(list, [](const PortStatus* other) { return other->drain.phase != DrainPhase::none; });
    if (!list.empty() || !forced) return list;
    for (const auto& other : state.ports)
        if (other.name != port.name && other.drain.phase != DrainPhase::none && !other.drain.forced &&
            other.link_up)
            list.push_back(&other);
    return list;
}

} // namespace

DrainForecast drain_forecast_of(const TeamState& state, const PortStatus& port, const Rates& rates,
                                bool forced) {
    const auto rate_of = [&rates](const std::string& name) {
        const auto found = rates.find(name);
        return found == rates.end() ? 0 : found->second;
    };
    DrainForecast forecast{.port = port.name,
                           .load = rate_of(port.name),
                           .by_bucket = hashes_flows(state),
                           .others = {},
                           .overloaded = {},
                           .min_ports = state.min_ports};
    for (const auto& other : state.ports)
        if (other.name != port.name && is_able(state, other)) ++forecast.able;
    for (const auto* other : carriers_then(state, port, forced))
        forecast.others.push_back({.port = other->name,
                                   .now = rate_of(other->name),
                                   .capacity = other->link.speed.value_or(0) * bytes_per_megabit});
    forecast.able = std::max(forecast.able, forecast.others.size());
    if (forecast.others.empty()) return forecast;
    if (forecast.by_bucket) {
        const auto owners = owners_then(state, forecast);
        std::array<double, max_ports + 1> then{};
        for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
            then[owners[bucket].value] += state.balance->loads[bucket].bytes;
        for (auto& other : forecast.others)
            other.then = then[slot_in(state, other.port).value];
    } else {
        share_out(state, team_load(state, rates), forecast.others);
    }
    for (const auto& other : forecast.others)
        if (other.capacity != 0 && other.then > other.capacity) forecast.overloaded.push_back(other.port);
    return forecast;
}

std::optional<std::string> objection_of(const DrainForecast& forecast) {
    if (forecast.others.empty()) return "no other port carries";
    if (forecast.able < forecast.min_ports)
        return fmt::format(
            "only {} would be left, and runner.min_ports is {}: the team would have no carrier",
            forecast.able, forecast.min_ports);
    if (forecast.overloaded.empty()) return std::nullopt;
    return fmt::format("too much for {}", listed(forecast.overloaded));
}

std::string text_of(const DrainForecast& forecast) {
    auto text = fmt::format("without {}, which sends {} (nothing is changed):\n", forecast.port,
                            megabits(forecast.load));
    if (forecast.others.empty()) return text + "no other port carries\n";
    std::vector<Row> rows;
    for (const auto& other : forecast.others)
        rows.push_back({other.port, megabits(other.now), megabits(other.then),
                        other.capacity == 0 ? "not known" : megabits(other.capacity),
                        share(other.then, other.capacity)});
    return text + table_of({"port", "sends", "would send", "speed", "full"}, std::move(rows));
}

json::Value json_of(const std::string& team, const DrainForecast& forecast) {
    json::Object ports;
    for (const auto& other : forecast.others)
        ports.push_back(
            {other.port, json::Object{{"bytes_per_second", json::rounded(other.now)},
                                      {"capacity_bytes_per_second", json::rounded(other.capacity)},
                                      {"expected_bytes_per_second", json::rounded(other.then)}}});
    const auto objection = objection_of(forecast);
    return json::Object{
        {"able_ports", static_cast<std::int64_t>(forecast.able)},
        {"by_bucket", forecast.by_bucket},
        {"bytes_per_second", json::rounded(forecast.load)},
        {"min_ports", static_cast<std::int64_t>(forecast.min_ports)},
        {"overloaded", json::Array(forecast.overloaded.begin(), forecast.overloaded.end())},
        {"port", forecast.port},
        {"ports", std::move(ports)},
        {"reason", objection ? json::Value(*objection) : json::Value()},
        {"team", team},
    };
}

} // namespace teamo::ctl
