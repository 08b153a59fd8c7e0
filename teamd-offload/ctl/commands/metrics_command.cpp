// SPDX-License-Identifier: LGPL-2.1-or-later
#include "control/metrics_text.h"
#include "ctl/commands.h"

namespace teamo::ctl {

CommandResult metrics_show(Session& session, Arguments) {
    const auto state = TEAMO_TRY(session.document(control::StateDump{}));
    put(control::metrics_text({&state, 1}));
    return {};
}

CommandResult metrics_of_all_teams(const Options& options, Arguments) {
    const auto teams = TEAMO_TRY(running_teams());
    std::vector<json::Value> states;
    auto status = ExitStatus::success;
    for (const auto& team : teams) {
        auto session = Session::open(team, options);
        auto state = session ? session->document(control::StateDump{}) : tl::unexpected(session.error());
        if (state) {
            states.push_back(std::move(*state));
            continue;
        }
        status = ExitStatus::failure;
        warn(state.error().text);
    }
    put(control::metrics_text(states));
    return status;
}

} // namespace teamo::ctl
