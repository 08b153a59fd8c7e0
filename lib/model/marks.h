// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The marks that our devices and ports carry, as alternative names (ip link property), so that other
// programs can leave them alone (packaging/) and a later daemon knows them again:
//
//   teamo-team-TEAM          the device people see
//   teamo-inner-TEAM         its inner end
//   teamo-port-TEAM-SLOT     a port, and its place in the team
#pragma once

#include "model/observation.h"

#include <optional>
#include <string>
#include <string_view>

namespace teamo {

/// What inner ends are named, with a number behind it.
inline constexpr std::string_view inner_name_prefix = "tmo";

std::string team_mark(std::string_view team);
std::string inner_mark(std::string_view team);
std::string port_mark(std::string_view team, Slot slot);

/// What a port's mark says.
struct PortMark {
    std::string team;
    Slot slot;
    bool operator==(const PortMark&) const = default;
};
std::optional<PortMark> port_mark_of(const Link& link);

/// The team whose device (or inner end) this is; none where it is neither.
std::optional<std::string> team_of_device(const Link& link);

} // namespace teamo
