// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the devices above the team need it to receive. A macvlan adds its address to the team's list, of
// which the kernel reports nothing, and makes a veth promiscuous, of which it reports nothing either
// (net/core/dev_addr_lists.c: __dev_set_rx_mode). A device that claims to filter (IFF_UNICAST_FLT, which
// Debian's netkit of 6.12 does not) stays as it is. So both are read when those above the team change, and
// once in a while, since the events of a macvlan in a container's namespace are not received here.
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

    /// Reads the team's addresses if other devices are on the team than before. True: they have changed.
    bool update();
    /// Reads them now. True: they have changed.
    bool update_addresses();

    /// The team's list of unicast addresses besides its own.
    const std::vector<MacAddress>& unicast_list() const { return unicast_list_; }

private:
    TeamContext& context_;
    std::vector<std::pair<IfIndex, std::uint32_t>> uppers_; ///< master, then devices on the team with IFF_*
    std::vector<MacAddress> unicast_list_;
};

} // namespace teamo
