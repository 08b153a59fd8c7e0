// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The input and the output of every runner.
#pragma once

#include "base/named.h"
#include "model/failure_domain.h"
#include "model/status.h"

#include <optional>
#include <vector>

namespace teamo {

/// A port as a runner sees it.
struct Candidate {
    IfIndex port;
    bool up = false;   ///< by its link watches; lacp: its device has a link
    bool held = false; ///< lacp: other link watches are down, so it must not transmit
    std::int32_t prio = 0;
    bool sticky = false;
    std::uint32_t speed = 0; ///< Mbit/s; 0 is unknown
    Duplex duplex = Duplex::unknown;
    bool last = false; ///< use it only if no other port is up: it lacks an offload ("lacking": "demote"), or
                       ///< loses packets (link watch "loss")
    Slot slot{};
    std::uint16_t lacp_prio = 255, lacp_key = 0;
    std::uint32_t carrier_losses = 0; ///< of its device
    FailureDomain domain{};           ///< as far as known
    bool operator==(const Candidate&) const = default;
};

/// Why a port became active although an equal one comes before it: that one shares something with the port
/// that was lost.
struct ActiveChoice {
    IfIndex chosen, before, lost;
    DomainPart part = DomainPart::at; ///< that `before` shares with `lost`, and `chosen` does not
    bool operator==(const ActiveChoice&) const = default;
};

struct Decision {
    std::vector<IfIndex> transmit; ///< ports that send packets
    std::vector<IfIndex> receive;  ///< ports whose received packets are delivered
    /// Ports that are up but do not send, in order of preference: the first with a link takes over when no
    /// port of `transmit` has one.
    std::vector<IfIndex> standby{};
    std::optional<IfIndex> active; ///< activebackup
    /// activebackup: of the last change of the active port; none: the order of the ports decided.
    std::optional<ActiveChoice> choice{};
    /// Of the team, unless `transmit` is empty; lacp withholds it with fewer ports than min_ports.
    bool has_carrier = true;
    bool operator==(const Decision&) const = default;
};

} // namespace teamo
