// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.h"
#include "model/observation.h"

namespace teamo {

/// Whether a device may become a port of the team; else the reason and what to do about it.
/// EEXIST: it has a master or another team's mark. EINVAL: it is not an Ethernet device, is an aggregate, or
/// is built on the team (the kernel's team driver refuses the same: team_port_add).
Result<> may_join(const Links& links, const Link& device, std::string_view team);

/// Whether a daemon was killed while it created the team's device: its inner end has our mark, or the journal
/// has it (`noted`) and it is still down and without ports.
bool is_half_made(const Links& links, std::string_view team, bool noted);

} // namespace teamo
