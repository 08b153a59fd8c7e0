// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The teams that the process for all teams could not start, in a file, because they have no socket.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace teamo::control {

/// Of the process for all teams. Its lock, which has ".lock" after that name, is held as long as it lives.
inline constexpr const char* all_pid_path = "/run/teamd/.all.pid";
inline constexpr const char* refused_teams_path = "/run/teamd/.all.refused";

struct RefusedTeam {
    std::string team;
    std::string file; ///< of its configuration
    std::string why;
    bool retried = false; ///< the process tries again; otherwise it waits for a reload
    bool operator==(const RefusedTeam&) const = default;
};
std::string refused_teams_text(const std::vector<RefusedTeam>& teams);
/// What is not such a list reads as an empty one.
std::vector<RefusedTeam> parse_refused_teams(std::string_view text);

} // namespace teamo::control
