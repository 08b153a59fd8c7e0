// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lacp/selection.h"

#include <algorithm>
#include <map>

namespace teamo::lacp {
namespace {

/// What the policy prefers; none: it prefers neither.
std::optional<bool> preferred(AggSelectPolicy policy, const Aggregator& one, const Aggregator& other) {
    const auto unless_equal = [](auto left, auto right) {
        return left == right ? std::nullopt : std::optional(left > right);
    };
    const auto stays = unless_equal(one.is_chosen, other.is_chosen);
    const auto first = [](std::optional<bool> choice, std::optional<bool> next) {
        return choice ? choice : next;
    };
    switch (policy) {
    case AggSelectPolicy::lacp_prio: return std::nullopt;
    case AggSelectPolicy::lacp_prio_stable: return stays;
    case AggSelectPolicy::bandwidth: return first(unless_equal(one.speed, other.speed), stays);
    case AggSelectPolicy::count: return first(unless_equal(one.count, other.count), stays);
    case AggSelectPolicy::port_config: break;
    }
    const auto sticks = unless_equal(one.is_chosen && one.is_sticky, other.is_chosen && other.is_sticky);
    return first(sticks, first(unless_equal(one.preference, other.preference), stays));
}

/// `one` is to be used rather than `other`.
bool is_better(const Aggregator& one, const Aggregator& other, AggSelectPolicy policy,
               const std::optional<Port::LagId>& by_hand) {
    if (one.answers != other.answers) return one.answers;
    if (by_hand) {
        const bool is_one = one.lead->lag() == *by_hand, is_other = other.lead->lag() == *by_hand;
        if (is_one != is_other) return is_one;
    }
    if (one.is_individual != other.is_individual) return other.is_individual;
    return preferred(policy, one, other).value_or(one.rank < other.rank);
}

} // namespace

bool Aggregator::has(const Port& port) const { return std::ranges::find(ports, &port) != ports.end(); }

std::vector<Aggregator> aggregators_of(std::span<const Port> ports, Clock::time_point now) {
    // A working aggregator is not left for a new partner that may never select us.
    const bool works = std::ranges::any_of(ports, [](const Port& port) {
        return port.is_current() && port.variables.selected == Selected::selected &&
               port.variables.partner.is(StateBit::synchronization);
    });
    std::map<Port::LagId, Aggregator> found;
    for (const auto& port : ports) {
        const auto state = port.receive.state();
        const bool has_partner = state == ReceiveState::current || state == ReceiveState::expired;
        if (!port.variables.port_enabled || !port.answered || !has_partner || is_out(port.link.drain))
            continue;
        auto& one = found[port.lag()];
        const auto rank = port.rank();
        if (one.lead == nullptr || rank < one.rank) {
            one.lead = &port;
            one.rank = rank;
        }
        one.preference =
            one.ports.empty() ? port.link.preference : std::max(one.preference, port.link.preference);
        one.ports.push_back(&port);
        one.is_individual = port.is_individual();
        one.is_chosen |= port.variables.selected == Selected::selected;
        if (!port.is_current()) continue;
        one.answers |=
            port.variables.partner.is(StateBit::synchronization) || (!works && now < port.forgiven_until);
        one.is_sticky |= port.link.sticky;
        one.speed += port.link.speed;
        ++one.count;
    }
    std::vector<Aggregator> list;
    for (auto& [lag, one] : found)
        list.push_back(std::move(one));
    return list;
}

const Aggregator* best_of(const std::vector<Aggregator>& all, AggSelectPolicy policy,
                          const std::optional<Port::LagId>& by_hand) {
    const auto best = std::ranges::min_element(all, [&](const Aggregator& one, const Aggregator& other) {
        return is_better(one, other, policy, by_hand);
    });
    return best == all.end() ? nullptr : &*best;
}

} // namespace teamo::lacp
