// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.h"
#include "model/observation.h"

namespace teamo {

/// Whether a device may become a port of the team; else the reason and what to do about it.
/// EEXIST: it has a master or another team's mark; EINVAL: no Ethernet device, an aggregate itself, or
/// something that stands on the team (the kernel's own team driver refuses the same: team_port_add).
Result<> may_join(const Links& links, const Link& device, std::string_view team);

/// Whether the device of that name is one that a daemon was making for the team when it was killed: its inner
/// end has our mark, or a journal says so (`noted`) and it is as it is then, down, without a port.
bool is_half_made(const Links& links, std::string_view team, bool noted);

} // namespace teamo
