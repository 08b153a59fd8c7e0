// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A socket filter for LLDP.
#pragma once

#include <linux/filter.h>

#include <vector>

namespace teamo {

/// Frames of LLDP to 01:80:c2:00:00:0e, :03 or :00, without a tag, complete.
std::vector<sock_filter> lldp_filter();

} // namespace teamo
