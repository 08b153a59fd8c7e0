// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a team's state has of its ports: parts of it, what they send, and what they can send; pure.
#pragma once

#include "control/state_document.h"

#include <chrono>
#include <map>

namespace teamo::ctl {

using control::TeamState;

const PortStatus* find_port(const TeamState& state, std::string_view name);

/// ENOTSUP unless the daemon's state has that part: an older daemon does not report it.
Result<> require_part(bool reported);

/// The port's part of "balance"; nullptr if the team does not hash.
const PortBalance* find_balance(const TeamState& state, std::string_view port);

std::vector<std::string> names_of(const std::vector<const PortStatus*>& ports);

/// The ports that transmit, and those that can take over.
std::vector<const PortStatus*> carriers(const TeamState& state);
/// Whether a port has a configured weight.
bool has_weights(const TeamState& state);

/// Those of carriers() that can carry without the port `without`. A port that lacks an offload or loses
/// packets waits until no other port transmits. Another aggregator of LACP does not count: it carries only
/// after its partner has agreed.
std::vector<const PortStatus*> carriers_without(const TeamState& state, std::string_view without);

/// How much a counter of the port has grown since the earlier state. None: the port was not there; or it was
/// removed and added again, so that the counter is smaller.
std::optional<std::uint64_t> growth_of(std::uint64_t PortCounters::* counter, const PortStatus& port,
                                       const TeamState& earlier);

/// Sent bytes per second by port.
using Rates = std::map<std::string, double, std::less<>>;

/// From two states, `between` apart. A port that is only in one of them is left out.
Rates rates_between(const TeamState& earlier, const TeamState& later, std::chrono::duration<double> between);

/// What the whole team sends. With the broadcast runner every port sends the same: it counts once.
double team_load(const TeamState& state, const Rates& rates);

/// What ports can send for the team, by their speeds.
struct Capacity {
    std::size_t ports = 0;
    double bytes = 0;                 ///< per second, of those whose speed is known
    std::vector<std::string> unknown; ///< ports without a speed
    bool operator==(const Capacity&) const = default;
};

/// The capacity of carriers_without(). activebackup and broadcast: the slowest port. roundrobin: the slowest
/// port times their number. Other runners: the sum.
Capacity capacity_without(const TeamState& state, std::string_view without);

/// A state document as `teamdctl TEAM state` prints it, `verbose` as with -v. Keys that teamdctl does not
/// know are not shown. An error if a key is missing that libteamdctl requires.
Result<std::string> view_of_state(const json::Value& document, bool verbose);

} // namespace teamo::ctl
