// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/marks.h"

#include <fmt/format.h>

namespace teamo {
namespace {
constexpr std::string_view team_prefix = "teamo-team-", inner_prefix = "teamo-inner-",
                           port_prefix = "teamo-port-";
} // namespace

std::string team_mark(std::string_view team) { return fmt::format("{}{}", team_prefix, team); }
std::string inner_mark(std::string_view team) { return fmt::format("{}{}", inner_prefix, team); }
std::string port_mark(std::string_view team, Slot slot) {
    return fmt::format("{}{}-{}", port_prefix, team, slot.value);
}

std::optional<PortMark> port_mark_of(const Link& link) {
    for (std::string_view name : link.altnames) {
        if (!name.starts_with(port_prefix)) continue;
        name.remove_prefix(port_prefix.size());
        // A team's name may contain dashes; the slot is the one digit after the last dash.
        const auto dash = name.rfind('-');
        if (dash == std::string_view::npos || dash == 0 || dash + 2 != name.size()) continue;
        const char digit = name.back();
        if (digit < '1' || digit > '8') continue;
        return PortMark{.team = std::string(name.substr(0, dash)),
                        .slot = Slot{static_cast<std::uint8_t>(digit - '0')}};
    }
    return std::nullopt;
}

std::optional<std::string> team_of_device(const Link& link) {
    for (const std::string_view name : link.altnames)
        for (const auto prefix : {team_prefix, inner_prefix})
            if (name.starts_with(prefix)) return std::string(name.substr(prefix.size()));
    return std::nullopt;
}

} // namespace teamo
