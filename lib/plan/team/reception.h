// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a port must receive for its team. The kernel's team driver passes the team's addresses and VLANs to
// its ports (drivers/net/team/team_core.c: team_set_rx_mode, team_vlan_rx_add_vid); the BPF datapath uses
// what user space can set.
#pragma once

#include "model/features.h"
#include "model/observation.h"

#include <vector>

namespace teamo {

/// Whether a device on the team receives frames with VLAN tags: a VLAN device at any level, or a master such
/// as a bridge, whose ports may use any tag.
bool takes_tags(const Links& links, const Link& team);

/// Whether the team's list has another address than the team's own.
bool takes_other_addresses(const std::vector<MacAddress>& unicast_list, const Link& team);

/// Active features of a device that must be off while it is a port, if the driver can switch them:
/// rx-vlan-filter and rx-vlan-stag-filter. They drop tags that are not in the card's list, and no program
/// fills that list.
FeatureSettings unwanted(const Features& features);

/// Whether the card drops frames with tags that are not in its list.
bool filters_tags(const Features& features);

} // namespace teamo
