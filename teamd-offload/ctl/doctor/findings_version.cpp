// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Whether the daemon runs the installed version: an upgrade does not restart every daemon.
#include "ctl/doctor/findings.h"

#include <fmt/format.h>

namespace teamo::ctl {
namespace {

/// The daemon may be a child of another service, such as NetworkManager's: that is not to be restarted. One
/// that took over from a teamd is started again by who had started that teamd.
bool can_be_restarted(std::string_view unit) {
    return unit == "teamd-offload.service" || unit.starts_with("teamd-offload@") ||
           unit.starts_with("teamd@");
}

} // namespace

std::string unit_to_restart(const Readings& readings) {
    return can_be_restarted(readings.unit) ? readings.unit
                                           : fmt::format("teamd-offload@{}.service", readings.state.name);
}

Findings version_findings(const Readings& readings) {
    const auto& state = readings.state;
    if (state.version == readings.installed) return {};
    auto what =
        state.version.empty()
            ? fmt::format("the daemon runs an older version, installed is {}", readings.installed)
            : fmt::format("the daemon runs version {}, installed is {}", state.version, readings.installed);
    std::string fix = "restart the daemon where it was started, as in its container";
    if (can_be_restarted(readings.unit))
        fix = fmt::format("/usr/share/teamd-offload/restart-teams '{}'  (the team carries meanwhile; if the "
                          "installed version refuses the configuration, this says so and changes nothing)",
                          readings.unit);
    else if (readings.process > 0)
        fix = fmt::format("kill -9 {}, then start the daemon again as it was started before  (the team "
                          "carries meanwhile)",
                          readings.process);
    return {{Severity::warning, state.name, std::move(what), std::move(fix)}};
}

} // namespace teamo::ctl
