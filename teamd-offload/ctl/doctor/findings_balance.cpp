// SPDX-License-Identifier: LGPL-2.1-or-later
#include "balance/balancer.h"
#include "ctl/doctor/findings.h"
#include "text/numbers.h"

#include <fmt/format.h>

#include <algorithm>

namespace teamo::ctl {
namespace {

using enum Severity;

constexpr double max_over_mean = 1.25;  // the fullest port's utilisation by the team's
constexpr double min_utilisation = 0.1; // of the team's capacity: below that no queue builds up

struct Fullness {
    std::string fullest;
    double over_mean = 0; ///< its utilisation divided by of_team
    double of_team = 0;   ///< the team's utilisation: load by capacity
};

/// By port what it can carry, bytes/s, in the order of the state; 0: not known.
std::vector<BalancedPort> capacities_of(const TeamState& state) {
    std::vector<BalancedPort> ports;
    for (const auto& port : state.ports)
        ports.push_back({.slot = {},
                         .capacity = port.link.speed.value_or(0) * bytes_per_megabit,
                         .weight = static_cast<double>(port.weight.value_or(0))});
    apply_weights(ports);
    return ports;
}

/// None if fewer than two ports transmit or a speed is not known.
std::optional<Fullness> fullness_of(const Readings& readings) {
    Fullness fullness;
    const auto capacities = capacities_of(readings.state);
    double load = 0, capacity = 0, most = 0;
    std::size_t ports = 0;
    for (std::size_t place = 0; place < capacities.size(); ++place) {
        const auto& port = readings.state.ports[place];
        if (!port.transmits) continue;
        const auto* rate = find(readings.rates, port.name);
        if (rate == nullptr || !port.link.speed) return std::nullopt;
        const auto speed = capacities[place].capacity;
        ++ports;
        load += *rate;
        capacity += speed;
        if (*rate / speed <= most) continue;
        most = *rate / speed;
        fullness.fullest = port.name;
    }
    if (ports < 2 || load <= 0) return std::nullopt;
    fullness.of_team = load / capacity;
    fullness.over_mean = most / fullness.of_team;
    return fullness;
}

void add_uneven(const Readings& readings, Findings& findings) {
    const auto& balance = *readings.state.balance;
    const auto fullness = fullness_of(readings);
    if (!fullness || fullness->over_mean <= max_over_mean || fullness->of_team < min_utilisation) return;
    const auto what = fmt::format("carries {:.2f} times its share of the load", fullness->over_mean);
    if (!balance.config.on)
        findings.push_back({warning, fullness->fullest, what + ", and balancing is off",
                            R"(in the configuration: "runner": {…, "tx_balancer": {"name": "basic"}})"});
    else if (balance.frozen)
        findings.push_back({warning, fullness->fullest, what + ", and balancing is frozen",
                            fmt::format("teamoctl {} balance thaw", readings.state.name)});
}

constexpr double max_received = 2.0; // of a port's share of what the team receives, by speed

/// The other end decides by which port a packet arrives.
void add_uneven_inbound(const Readings& readings, Findings& findings) {
    struct Inbound {
        const PortStatus* port;
        double bytes, speed;
    };
    std::vector<Inbound> ports;
    double bytes = 0, speed = 0;
    for (const auto& port : readings.state.ports) {
        const auto received = growth_of(&PortCounters::rx_bytes, port, readings.before);
        if (!port.receives || !port.link.speed || !received) continue;
        ports.push_back({&port, static_cast<double>(*received), *port.link.speed * bytes_per_megabit});
        bytes += ports.back().bytes;
        speed += ports.back().speed;
    }
    if (ports.size() < 2 || bytes < min_utilisation * speed) return;
    const auto fullest =
        std::ranges::max(ports, {}, [](const Inbound& one) { return one.bytes / one.speed; });
    const auto over_mean = (fullest.bytes / fullest.speed) / (bytes / speed);
    if (over_mean < std::min(max_received, 0.9 * static_cast<double>(ports.size()))) return;
    findings.push_back(
        {note, fullest.port->name,
         fmt::format(
             "receives {:.1f} times its share: the switch sends {} of all received bytes to this port",
             over_mean, share(fullest.bytes, bytes)),
         "on the switch: set the load-balancing hash of the group to layer 3+4 (addresses and TCP/UDP "
         "ports); with only a few connections the load may stay uneven"});
}

void add_forced(const TeamState& state, Findings& findings) {
    std::size_t forced = 0, ended = 0;
    for (const auto& move : state.balance->moves) {
        // Moves by hand may be forced on purpose ("now").
        if (move.end == MoveEnd::pending || move.reason == MoveReason::by_hand) continue;
        ++ended;
        if (move.end == MoveEnd::forced) ++forced;
    }
    if (forced == 0) return;
    findings.push_back(
        {note, state.name,
         fmt::format("{} of the last {} did not wait for a pause in the traffic: packets may have "
                     "been reordered",
                     forced, counted(ended, "move", "moves")),
         R"(to wait longer, in the configuration: "balance": {"max_wait": MILLISECONDS})"});
}

} // namespace

Findings balance_findings(const Readings& readings) {
    Findings findings;
    const auto& state = readings.state;
    if (state.runner != "activebackup" && !balances_alone(state)) add_uneven_inbound(readings, findings);
    if (!state.balance) return findings;
    const auto& balance = *state.balance;
    if (balance.config.on && !balance.counted)
        findings.push_back({warning, state.name, "balancing is on, but the load of the buckets is not known",
                            fmt::format("journalctl TEAM={} -g balance", state.name)});
    add_uneven(readings, findings);
    if (balance.config.on && balance.frozen)
        findings.push_back({note, state.name, "balancing is frozen: no bucket is moved because of its load",
                            fmt::format("teamoctl {} balance thaw", state.name)});
    add_forced(state, findings);
    return findings;
}

} // namespace teamo::ctl
