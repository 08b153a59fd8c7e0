// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a port must take in for the team's sake. The kernel's own driver hands the team's lists of addresses
// and VLANs down to its ports (drivers/net/team/team_core.c: team_set_rx_mode, team_vlan_rx_add_vid); a BPF
// team does with the means that user space has.
#pragma once

#include "model/features.h"
#include "model/observation.h"

#include <vector>

namespace teamo {

/// Whether frames with VLAN tags are for somebody above the team: a VLAN device at any height, or a bridge or
/// the like, whose ports may use any tag.
bool takes_tags(const Links& links, const Link& team);

/// Whether the team's list has an address that is not the team's own.
bool takes_other_addresses(const std::vector<MacAddress>& unicast_list, const Link& team);

/// Features of a device that are on and can and must be off while it is a port. rx-vlan-filter and
/// rx-vlan-stag-filter: the card drops tags it was not told of, and nobody tells it.
FeatureSettings unwanted(const Features& features);

/// Whether the card drops frames with tags that it was not told of.
bool filters_tags(const Features& features);

} // namespace teamo
