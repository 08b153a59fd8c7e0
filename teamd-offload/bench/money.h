// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the traffic costs, from the prices that the user gives and the energy that a meter showed. Nothing is
// guessed: without prices there is no cost, without a meter no energy.
#pragma once

#include "base/result.h"
#include "bench/metrics.h"
#include "json/value.h"

#include <string>
#include <vector>

namespace teamo::bench {

/// The user's price table.
struct Prices {
    std::string currency{};   ///< "EUR"
    double kwh = 0;           ///< price of a kilowatt hour
    double server = 0;        ///< price of a server
    double pue = 1;           ///< energy of the building by energy of the servers
    double servers = 1;       ///< that carry such traffic
    double hours = 8766;      ///< a year with traffic
    double years = 5;         ///< that a server is used
    double gbits = 1;         ///< traffic of a server in these hours, Gbit/s
    double watts_per_cpu = 0; ///< of a busy CPU, if there is no meter; 0: not known
    std::map<Way, double> weights{{Way::transmit, 1}, {Way::receive, 1}, {Way::both, 1}}; ///< of each way
};

/// EBADMSG with a text for the user: an unknown key, no number, or a number that makes no sense.
Result<Prices> prices_from(const json::Value& table);

/// Over all servers and years.
struct Cost {
    double cpus = 0;             ///< busy in a server with that traffic
    double servers = 0;          ///< the part of a server's CPUs that they are, times the price
    std::optional<double> kwh{}; ///< with the building's part
    std::optional<double> energy{};
    double total() const { return servers + energy.value_or(0); }
};

/// None: the case has no service demand.
std::optional<Cost> cost_of(const Measured& measured, const Results& results, const Prices& prices);

/// The three ways of a setup with the most ports, weighted; of the ways that were not measured nothing.
struct SetupCost {
    Case what{};
    Cost cost{};
    std::vector<Way> ways{}; ///< that were measured
};
std::vector<SetupCost> weighted_costs(const Results& results, const Prices& prices);

} // namespace teamo::bench
