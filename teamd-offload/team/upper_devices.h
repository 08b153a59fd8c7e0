// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which addresses the team must receive for the devices above it. A macvlan adds its address to the team's
// unicast list and, if the team's device does not filter (no IFF_UNICAST_FLT: veth, and netkit in
// Debian's 6.12), makes it promiscuous; the kernel reports neither (net/core/dev_addr_lists.c:
// __dev_set_rx_mode). So both are read when the devices above the team change, and by a poll, since events
// from the namespace of a container do not arrive here.
#pragma once

#include "base/mac_address.h"
#include "team/context.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace teamo {

class UpperDevices {
public:
    explicit UpperDevices(TeamContext& context) : context_(context) {}

    /// Reads the team's addresses if the devices above it have changed. True: the devices have changed.
    bool update();
    /// Reads the team's addresses now. True: they have changed.
    bool update_addresses();

    /// The team's unicast addresses besides its own.
    const std::vector<MacAddress>& unicast_list() const { return unicast_list_; }

private:
    TeamContext& context_;
    std::vector<std::pair<IfIndex, std::uint32_t>> uppers_; ///< master, then devices on the team with IFF_*
    std::vector<MacAddress> unicast_list_;
};

} // namespace teamo
