// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The team's device on a kernel without the team driver: a pair of which people see one end. What the
// host sends through it comes out at the inner end, where a program gives it to a port; what a port
// receives is put into the inner end and comes out at the team's, counted and visible like on any device.
#pragma once

#include "datapath/datapath.h"

namespace teamo {

/// Makes and marks the pair, down, with no carrier. `name` may be "team%d". On failure nothing is left.
Result<TeamDevice> create_pair_device(LinkControl& links, const std::string& name, const MacAddress& address);

/// The pair that bears the team's marks; none where there is none of that name. EEXIST: a device has the
/// name but not the mark, or the inner end is gone.
Result<std::optional<TeamDevice>> find_pair_device(const Links& links, const std::string& name);

} // namespace teamo
