// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/money.h"

#include "bench/compare.h"

#include <fmt/format.h>

#include <algorithm>

namespace teamo::bench {
namespace {

constexpr double bits_per_kib = 8 * 1024, joules_per_kwh = 3.6e6;

struct PriceKey {
    std::string_view name;
    double Prices::* member;
    double least;
};
constexpr auto price_keys = std::to_array<PriceKey>({
    {"kwh", &Prices::kwh, 0},
    {"server", &Prices::server, 0},
    {"pue", &Prices::pue, 1},
    {"servers", &Prices::servers, 0},
    {"hours", &Prices::hours, 0},
    {"years", &Prices::years, 0},
    {"gbits", &Prices::gbits, 0},
    {"watts_per_cpu", &Prices::watts_per_cpu, 0},
});

Result<double> price(const std::string& key, const json::Value& value, double least) {
    const auto* whole = value.integer();
    const auto* real = value.real();
    if (whole == nullptr && real == nullptr)
        return fail(EBADMSG, fmt::format("prices: {} is {}, not a number", key, json::type_of(value)));
    const double number = whole != nullptr ? static_cast<double>(*whole) : *real;
    if (number < least)
        return fail(EBADMSG, fmt::format("prices: {} is {}, less than {}", key, number, least));
    return number;
}

Result<> set_weights(Prices& prices, const json::Value& weights) {
    for (auto& [way, weight] : prices.weights)
        weight = 0;
    if (weights.object() == nullptr) return fail(EBADMSG, "prices: weights is not a JSON object");
    for (const auto& [key, value, place] : *weights.object()) {
        const auto way = named<Way>(key);
        if (!way)
            return fail(EBADMSG, fmt::format("prices: weights: {} is none of transmit, receive, both", key));
        prices.weights[*way] = TEAMO_TRY(price("weights." + key, value, 0));
    }
    const auto any = std::ranges::any_of(prices.weights, [](const auto& entry) { return entry.second > 0; });
    return any ? Result<>{} : fail(EBADMSG, "prices: weights has no weight above 0");
}

Cost operator*(Cost cost, double by) {
    cost.cpus *= by;
    cost.servers *= by;
    if (cost.kwh) *cost.kwh *= by;
    if (cost.energy) *cost.energy *= by;
    return cost;
}

Cost operator+(Cost one, const Cost& other) {
    one.cpus += other.cpus;
    one.servers += other.servers;
    // Energy of one way alone would be no sum.
    one.kwh = one.kwh && other.kwh ? std::optional(*one.kwh + *other.kwh) : std::nullopt;
    one.energy = one.energy && other.energy ? std::optional(*one.energy + *other.energy) : std::nullopt;
    return one;
}

/// By the meter of the machine, else by the user's figure of a busy CPU.
std::optional<double> watts(const Measured& measured, Basis basis, const Prices& prices, double cpus) {
    if (const auto joules = spread_of(measured, basis, joules_per_gb))
        return joules->median * prices.gbits / 8;
    if (prices.watts_per_cpu > 0) return prices.watts_per_cpu * cpus;
    return std::nullopt;
}

std::optional<SetupCost> weighted(const Case& setup, const Results& results, const Prices& prices) {
    SetupCost sum{.what = setup};
    double weights = 0;
    for (const auto way : all_ways) {
        auto what = setup;
        what.way = way;
        const auto* measured = find(results, what);
        const double weight = prices.weights.at(way);
        if (measured == nullptr || weight <= 0) continue;
        const auto cost = cost_of(*measured, results, prices);
        if (!cost) continue;
        sum.cost = sum.ways.empty() ? *cost * weight : sum.cost + *cost * weight;
        sum.ways.push_back(way);
        weights += weight;
    }
    if (sum.ways.empty()) return std::nullopt;
    sum.cost = sum.cost * (1 / weights);
    return sum;
}

} // namespace

Result<Prices> prices_from(const json::Value& table) {
    Prices prices;
    if (table.object() == nullptr) return fail(EBADMSG, "prices: not a JSON object");
    for (const auto& [key, value, place] : *table.object()) {
        if (key == "currency") {
            if (value.string() == nullptr) return fail(EBADMSG, "prices: currency is not a string");
            prices.currency = *value.string();
            continue;
        }
        if (key == "weights") {
            TEAMO_TRY(set_weights(prices, value));
            continue;
        }
        const auto* found = std::ranges::find(price_keys, key, &PriceKey::name);
        if (found == price_keys.end()) return fail(EBADMSG, fmt::format("prices: unknown key {}", key));
        prices.*found->member = TEAMO_TRY(price(key, value, found->least));
    }
    return prices;
}

std::optional<Cost> cost_of(const Measured& measured, const Results& results, const Prices& prices) {
    const auto basis = basis_of(results);
    const auto demand = spread_of(measured, basis, service_demand);
    if (!demand) return std::nullopt;
    Cost cost{.cpus = demand->median / 1e6 * prices.gbits * 1e9 / bits_per_kib};
    if (results.machine.cpus > 0)
        cost.servers = prices.servers * prices.server * cost.cpus / results.machine.cpus;
    if (const auto power = watts(measured, basis, prices, cost.cpus)) {
        const double seconds = prices.hours * prices.years * 3600;
        cost.kwh = prices.servers * *power * seconds * prices.pue / joules_per_kwh;
        cost.energy = *cost.kwh * prices.kwh;
    }
    return cost;
}

std::vector<SetupCost> weighted_costs(const Results& results, const Prices& prices) {
    std::vector<SetupCost> costs;
    unsigned most = 0;
    for (const auto& measured : results.cases)
        if (!measured.rounds.empty() && measured.what.load == Load::stream)
            most = std::max(most, measured.what.ports);
    for (const auto& measured : results.cases) {
        auto setup = measured.what;
        if (setup.load != Load::stream || setup.ports != most) continue;
        setup.way = Way::transmit;
        if (std::ranges::find(costs, setup, &SetupCost::what) != costs.end()) continue;
        if (auto cost = weighted(setup, results, prices)) costs.push_back(std::move(*cost));
    }
    return costs;
}

} // namespace teamo::bench
