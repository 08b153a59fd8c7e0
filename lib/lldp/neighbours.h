// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.h"
#include "lldp/lldpdu.h"
#include "model/failure_domain.h"

#include <vector>

namespace teamo::lldp {

/// Who sends LLDP to one port. A value: LLDPDUs and the time in, the switch out.
class Neighbours {
public:
    /// More senders at one port are ignored.
    static constexpr std::size_t most = 4;

    /// `carrier_losses`: of the port's link; what was heard before the last loss may be another cable's, and
    /// the first LLDPDU after it counts alone.
    void note(const Lldpdu& pdu, std::uint32_t carrier_losses, Clock::time_point now);

    /// The nearest device, until the TTL of its last LLDPDU has passed. Not known if there are several of
    /// them, as behind a hub.
    SwitchPort nearest(Clock::time_point now) const;

private:
    struct Neighbour {
        Lldpdu pdu;
        std::uint32_t carrier_losses = 0;
        Clock::time_point until{};
    };
    std::vector<Neighbour> known_;
};

} // namespace teamo::lldp
