// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Changes the configuration of a running team: what is the same in both configurations is not touched, and
// no link goes down.
#pragma once

#include "config/difference.h"
#include "control/usock_message.h"
#include "daemon/team/team.h"

#include <functional>

namespace teamo {

/// A configuration that a team can change into.
struct Reload {
    Configuration next;
    std::vector<Difference> differences{}; ///< between the present document and the next one
    std::vector<std::string> warnings{};
    /// Only if the programs must be loaded again: ready to take the place of the present datapath.
    std::unique_ptr<Datapath> datapath{};
};

/// ENOTSUP: `next` has what only a new device can have.
Result<> check_kept(const TeamContext& context, const TeamConfig& next);

/// What differs in a text from the present configuration. `file`: the text's name in messages. EINVAL: an
/// error in the text.
Result<Reload> read_reload(const Options& options, const Configuration& now, std::string_view text,
                           std::string_view file);
void log_reload(const Log& log, const Reload& reload, std::string_view file);

/// Changes nothing. `file`: the text's name in messages. EINVAL: an error in the text, or a port that cannot
/// join. ENOTSUP: a running team cannot change into it.
Result<Reload> plan_reload(TeamParts& parts, std::string_view text, std::string_view file);

/// Call it before a pass, which changes the tables and the devices. On failure nothing has changed. Success
/// includes a port that keeps the former program for a while (PortSet::attach_all()).
Result<> apply_reload(TeamParts& parts, Reload reload, std::string_view file);

/// Plans and, unless it is a dry run, applies. The reply: the differences and warnings as JSON, or why
/// nothing is changed.
control::Reply answer_reload(const control::ConfigReload& request, const Log& log,
                             const std::function<Result<Reload>()>& plan,
                             const std::function<Result<>(Reload)>& apply);

} // namespace teamo
