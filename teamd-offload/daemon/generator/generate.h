// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.h"

#include <filesystem>
#include <vector>

namespace teamo {

/// Writes a drop-in below `units` for each TEAM.conf in `configurations` that needs one
/// (units/teamd-offload@TEAM.service.d/rights.conf). A file that cannot be read as a configuration gives no
/// right. `journals` has TEAM.json: a team that has bound workers keeps the right to release them, also if
/// its file has no rule any more or an error. Returns what could not be read or written; the other teams get
/// theirs.
std::vector<Error> generate_drop_ins(const std::filesystem::path& configurations,
                                     const std::filesystem::path& journals,
                                     const std::filesystem::path& units);

} // namespace teamo
