// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What `teamoctl` without arguments says: what is on this machine, what the daemon would bring, and the
// command to start; pure.
#pragma once

#include "ctl/report/state.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace teamo::ctl {

/// A team with a daemon, or one that ought to have one.
struct SeenTeam {
    std::string name;
    std::optional<TeamState> state{}; ///< none: `why` not
    std::string why{};
};

struct Overview {
    Links links;
    std::map<IfIndex, std::uint32_t> speeds{}; ///< Mbit/s, of devices that report it
    std::set<IfIndex> addressed{};             ///< with an address that is not link-local
    std::vector<SeenTeam> teams{};
    std::string silence{};     ///< why the daemons could not be asked; empty: they could
    bool has_unit = false;     ///< systemd runs, and has the unit teamd-offload@
    std::size_t most_rows = 8; ///< devices; then a line says how many more there are
};

/// Devices that a team could have as ports: cards, or where there is none, as in a container, veths. They
/// have no master, no address, and no device on them. Those with a link first.
std::vector<const Link*> free_ports(const Overview& machine);

/// Starts the daemon on a bond that would be steered, or makes a team of two free ports. Empty: there is
/// neither, or a team runs already and there is no such bond.
std::string start_command(const Overview& machine);

/// At most 15 lines.
std::string overview_text(const Overview& machine);

} // namespace teamo::ctl
