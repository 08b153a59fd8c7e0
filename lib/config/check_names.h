// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "config/diagnostics.h"

namespace teamo::config {

/// What no table can say: names of devices, the number of ports, the hardware address, the length of a
/// TIPC bearer's name. `device` is the option's, empty where not given.
void check_names(const json::Value& document, std::string_view device, Diagnostics& diagnostics);

} // namespace teamo::config
