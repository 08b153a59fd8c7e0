// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Changes the configuration of a running team: what is the same in both configurations is not touched, and
// no link goes down.
#pragma once

#include "config/difference.h"
#include "daemon/team/team.h"

namespace teamo {

/// A configuration that the running team can change into.
struct Reload {
    Configuration next;
    std::vector<Difference> differences{}; ///< between the present document and the next one
    std::vector<std::string> warnings{};
    /// Only if the programs must be loaded again: ready to take the place of the present datapath.
    std::unique_ptr<Datapath> datapath{};
};

/// ENOTSUP: `next` has what only a new device can have.
Result<> check_kept(const TeamContext& context, const TeamConfig& next);

/// Changes nothing. `file`: the text's name in messages. EINVAL: an error in the text, or a port that cannot
/// join. ENOTSUP: a running team cannot change into it.
Result<Reload> plan_reload(TeamParts& parts, std::string_view text, std::string_view file);

/// Call it before a pass, which changes the tables and the devices. On failure nothing has changed. Success
/// includes a port that keeps the former program for a while (PortSet::attach_all()).
Result<> apply_reload(TeamParts& parts, Reload reload, std::string_view file);

/// For the control socket: the differences and warnings as JSON.
json::Value document_of(const Reload& reload);

} // namespace teamo
