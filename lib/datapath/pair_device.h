// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The team's device of the BPF datapath: a pair, of which one end is the team. Packets that the host sends
// through it arrive at the inner end, where a program redirects them to a port. Packets that a port receives
// are sent out of the inner end and arrive at the team's end, counted and visible as on any device.
#pragma once

#include "datapath/datapath.h"

namespace teamo {

/// Creates and marks the pair, down, with no carrier. On failure nothing remains.
Result<TeamDevice> create_pair_device(LinkControl& links, const std::string& name, const MacAddress& address);

/// The pair with the team's marks; none if there is no device of that name. EEXIST: the device does not have
/// the mark, or the inner end is gone.
Result<std::optional<TeamDevice>> find_pair_device(const Links& links, const std::string& name);

} // namespace teamo
