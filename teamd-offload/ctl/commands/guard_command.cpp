// SPDX-License-Identifier: LGPL-2.1-or-later
//
// guard: what is dropped that nobody on this host wants.
#include "ctl/commands.h"
#include "ctl/report/state_tables.h"

namespace teamo::ctl {

std::string guard_text(const GuardStatus& guard) {
    if (guard.mode == GuardMode::off)
        return "the guard is off; to switch it on, set \"guard\" in the configuration to \"arp\" or "
               "\"full\"\n";
    const auto& dropped = guard.dropped;
    auto text = table_of(
        {"dropped frames", "number"},
        {{"ARP requests for other hosts", std::to_string(dropped.arp_requests)},
         {"neighbour solicitations for other hosts", std::to_string(dropped.neighbour_solicitations)},
         {"to MAC addresses of other hosts", std::to_string(dropped.unicast)},
         {"broadcasts above the rate", std::to_string(dropped.broadcasts)},
         {"multicasts above the rate", std::to_string(dropped.multicasts)},
         {"above the rate of one sender", std::to_string(dropped.of_a_sender)},
         {"(not dropped)", std::to_string(guard.passed)}});
    if (!guard.aside.empty()) text += fmt::format("drops nothing now: {}\n", guard.aside);
    return text;
}

CommandResult guard_show(Session& session, Arguments) {
    const auto state = TEAMO_TRY(session.state());
    TEAMO_TRY(require_part(state.guard.has_value()));
    session.print(*state.document.find("guard"), guard_text(*state.guard));
    return {};
}

} // namespace teamo::ctl
