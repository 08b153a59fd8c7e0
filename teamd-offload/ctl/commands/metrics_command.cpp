// SPDX-License-Identifier: LGPL-2.1-or-later
#include "control/metrics_text.h"
#include "ctl/commands.h"

#include <algorithm>
#include <filesystem>

namespace teamo::ctl {

CommandResult metrics_show(Session& session, Arguments) {
    const auto state = TEAMO_TRY(session.document(control::StateDump{}));
    put(control::metrics_text({&state, 1}));
    return {};
}

CommandResult metrics_of_all_teams(const Options& options, Arguments) {
    std::vector<std::string> teams;
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator("/run/teamd", failed))
        if (entry.path().extension() == ".sock") teams.push_back(entry.path().stem().string());
    if (failed && failed != std::errc::no_such_file_or_directory)
        return fail_errno(failed.value(), "/run/teamd");
    std::ranges::sort(teams);
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
