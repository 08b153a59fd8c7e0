// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What stands on the team, and how the kernel would send a packet from there: for whoever must know which
// headers a flow has without seeing one of its packets.
#pragma once

#include "ctl/packet/packet.h"
#include "kernel/netlink/addresses.h"
#include "kernel/netlink/routes.h"
#include "model/observation.h"

namespace teamo::ctl {

class L2Context {
public:
    /// `team` is the team's device. Read once: who wants to know anew makes another.
    static Result<L2Context> read(IfIndex team);

    /// The team itself, or a VLAN, macvlan or the like above it.
    bool is_on_team(IfIndex device) const;
    /// Whether a device of the team's has the address.
    bool has(const IpAddress& address) const;

    /// Adds what the kernel would put before a packet from `src` (if said) to `dst`, as far as the packet
    /// does not say it: VLANs, hardware addresses. The neighbour's is left out where the kernel does not know
    /// it yet. EXDEV: it does not leave by the team.
    Result<> complete(Packet& packet) const;

private:
    IfIndex team_;
    Links links_;
    std::vector<DeviceAddress> addresses_;
    std::vector<Neighbour> neighbours_;
};

} // namespace teamo::ctl
