// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Rights that the unit of a team needs only with some configurations. A systemd generator
// (systemd.generator(7)) gives them to the teams whose file asks for them; packaging/systemd has the unit
// without them.
#pragma once

#include "base/result.h"
#include "model/config.h"

#include <filesystem>
#include <string>
#include <vector>

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

/// Writes a drop-in below `units` for each TEAM.conf in `configurations` that needs one
/// (units/teamd-offload@TEAM.service.d/rights.conf), and for the unit that runs all teams one with what any
/// of them needs. A file that cannot be read as a configuration gives no right. `journals` has TEAM.json: a
/// team that has bound workers keeps the right to release them, also if its file has no rule any more or an
/// error. Returns what could not be read or written; the other teams get theirs.
std::vector<Error> generate_drop_ins(const std::filesystem::path& configurations,
                                     const std::filesystem::path& journals,
                                     const std::filesystem::path& units);

} // namespace teamo
