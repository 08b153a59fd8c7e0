// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The devices above the team, and how the kernel sends a packet from there: to know the headers of a flow
// without capturing a packet.
#pragma once

#include "ctl/packet/packet.h"
#include "kernel/netlink/addresses.h"
#include "model/observation.h"

namespace teamo::ctl {

/// The VIDs of a packet of `device` when it reaches the team, or another device below, the outermost first.
std::vector<std::uint16_t> vlans_of(const Links& links, IfIndex device, IfIndex team);

class L2Context {
public:
    /// `team` is the team device. A snapshot: links, addresses and neighbour entries are read once.
    static Result<L2Context> read(IfIndex team);

    /// The team itself, or a device above it: VLAN, macvlan and so on.
    bool is_on_team(IfIndex device) const;
    /// Whether the team or a device above it has the address.
    bool has(const IpAddress& address) const;

    /// Adds the VLANs and MAC addresses that the kernel would use for a packet from `src` (if given) to
    /// `dst`; values that the packet has already stay. `dmac` stays empty if there is no neighbour entry.
    /// EXDEV: the packet does not leave by the team.
    Result<> complete(Packet& packet) const;

private:
    IfIndex team_;
    Links links_;
    std::vector<DeviceAddress> addresses_;
    std::vector<Neighbour> neighbours_;
};

} // namespace teamo::ctl
