// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lldp/neighbours.h"

#include <algorithm>

namespace teamo::lldp {

void Neighbours::note(const Lldpdu& pdu, std::uint32_t carrier_losses, Clock::time_point now) {
    std::erase_if(known_, [&](const Neighbour& one) {
        const bool is_sender = one.pdu.chassis == pdu.chassis && one.pdu.port == pdu.port;
        return is_sender || one.until <= now || one.carrier_losses != carrier_losses;
    });
    if (pdu.ttl.count() == 0 || known_.size() == most) return;
    known_.push_back({.pdu = pdu, .carrier_losses = carrier_losses, .until = now + pdu.ttl});
}

SwitchPort Neighbours::nearest(Clock::time_point now) const {
    const Lldpdu* nearest = nullptr;
    bool several = false;
    for (const auto& [pdu, losses, until] : known_) {
        if (until <= now) continue;
        if (nearest == nullptr || pdu.group < nearest->group) {
            nearest = &pdu;
            several = false;
        } else if (pdu.group == nearest->group && pdu.chassis != nearest->chassis) {
            several = true;
        }
    }
    if (nearest == nullptr || several) return {};
    return {.source = SwitchSource::lldp,
            .id = text_of_chassis(nearest->chassis),
            .name = nearest->system_name,
            .port = text_of_port(nearest->port)};
}

} // namespace teamo::lldp
