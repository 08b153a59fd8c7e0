// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which ports may form one aggregate, and which of several aggregates a team uses. Pure. IEEE 802.1AX-2020,
// 6.4.10 (selection); the policies are teamd's agg_select_policy.
#pragma once

#include "lacp/port.h"
#include "model/config.h"

#include <span>
#include <vector>

namespace teamo::lacp {

/// Ports that may form one aggregate. It refers to ports of the span that it was made from.
struct Aggregator {
    std::vector<const Port*> ports{};
    bool answers = false; ///< a partner has selected a link of it, or may do so soon
    bool is_chosen = false, is_individual = false, is_sticky = false;
    std::uint64_t speed = 0; ///< Mbit/s, of the ports that can be used
    std::size_t count = 0;   ///< of these ports
    std::int32_t preference = 0;
    std::pair<SystemId, PortId> rank{}; ///< of `lead`, the best of the ports
    const Port* lead = nullptr;

    bool has(const Port& port) const;
};

/// Of the ports that have a partner.
std::vector<Aggregator> aggregators_of(std::span<const Port> ports, Clock::time_point now);

/// The one to use; nullptr: there is none. `by_hand`: the administrator's, which the policy does not replace.
const Aggregator* best_of(const std::vector<Aggregator>& all, AggSelectPolicy policy,
                          const std::optional<Port::LagId>& by_hand);

} // namespace teamo::lacp
