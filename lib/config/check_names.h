// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "config/diagnostics.h"

namespace teamo::config {

/// Checks what the key table cannot express: device names, the number of ports, the hardware address, the
/// length of a TIPC bearer's name. `device`: from option -t; empty if not given.
void check_names(const json::Value& document, std::string_view device, Diagnostics& diagnostics);

} // namespace teamo::config
