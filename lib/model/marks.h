// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The marks of our devices and ports: alternative names (ip link property), by which other programs leave
// them alone (packaging/) and a later daemon recognizes them:
//
//   teamo-team-TEAM          the team device
//   teamo-inner-TEAM         its inner end
//   teamo-port-TEAM-SLOT     a port and its slot
#pragma once

#include "model/observation.h"

#include <optional>
#include <string>
#include <string_view>

namespace teamo {

/// Inner ends have this name with a number after it.
inline constexpr std::string_view inner_name_prefix = "tmo";

std::string team_mark(std::string_view team);
std::string inner_mark(std::string_view team);
std::string port_mark(std::string_view team, Slot slot);

/// The content of a port's mark.
struct PortMark {
    std::string team;
    Slot slot;
    bool operator==(const PortMark&) const = default;
};
std::optional<PortMark> port_mark_of(const Link& link);

/// The team if this is a team device or an inner end, else none.
std::optional<std::string> team_of_device(const Link& link);

} // namespace teamo
