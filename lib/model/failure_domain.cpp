// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/failure_domain.h"

#include <algorithm>

namespace teamo {

FailureDomain domain_of(const DevicePlace& place) {
    return {.card = place.physical.substr(0, place.physical.rfind('.')),
            .root_port = place.path.empty() ? "" : place.path.front(),
            .node = place.node,
            .at = {}};
}

bool shares(const FailureDomain& one, const FailureDomain& other, DomainPart part) {
    switch (part) {
    case DomainPart::at: return one.at.is_same_switch(other.at);
    case DomainPart::card: return !one.card.empty() && one.card == other.card;
    case DomainPart::root_port: return !one.root_port.empty() && one.root_port == other.root_port;
    case DomainPart::node: return one.node >= 0 && one.node == other.node;
    }
    return false;
}

SharedParts shared_parts(const FailureDomain& one, const FailureDomain& other) {
    SharedParts shared{};
    std::ranges::transform(all_domain_parts, shared.begin(),
                           [&](DomainPart part) { return shares(one, other, part); });
    return shared;
}

FailureDomain common_of(std::span<const FailureDomain> domains) {
    if (domains.size() < 2) return {};
    const auto& first = domains.front();
    const auto all_share = [&](DomainPart part) {
        return std::ranges::all_of(domains,
                                   [&](const FailureDomain& other) { return shares(first, other, part); });
    };
    FailureDomain common;
    if (all_share(DomainPart::at)) common.at = first.at;
    common.at.port.clear();
    if (all_share(DomainPart::card)) common.card = first.card;
    if (all_share(DomainPart::root_port)) common.root_port = first.root_port;
    if (all_share(DomainPart::node)) common.node = first.node;
    return common;
}

} // namespace teamo
