// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Rights that the unit of a team needs only with some configurations. A systemd generator
// (systemd.generator(7)) gives them to the teams whose file asks for them; packaging/systemd has the unit
// without them.
#pragma once

#include "model/config.h"

#include <string>
#include <string_view>

namespace teamo {

struct UnitRights {
    bool binds_processes = false;   ///< key "workers": processes of all users
    bool asks_name_servers = false; ///< a link watch whose target is a name
    bool uses_tipc = false;         ///< a link watch "tipc"
    bool operator==(const UnitRights&) const = default;
};

UnitRights rights_of(const TeamConfig& config);

/// A drop-in for the unit, systemd.exec(5). Empty: the unit's own rights are enough.
std::string drop_in(const UnitRights& rights);

} // namespace teamo
