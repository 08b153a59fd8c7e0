// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lacp/port.h"

#include <fmt/format.h>

#include <algorithm>

namespace teamo::lacp {

std::uint16_t key_by_speed(std::uint32_t speed) {
    constexpr std::uint32_t unit = 100, most = 65535; // Mbit/s; the highest key
    return speed == 0 ? std::uint16_t{0} : static_cast<std::uint16_t>(std::min(speed / unit + 1, most));
}

Port::LagId Port::lag() const {
    return {.own_key = variables.actor.key,
            .partner = variables.partner.system,
            .partner_key = variables.partner.key,
            .individual = is_individual() ? link.number : std::uint16_t{0}};
}

std::pair<SystemId, PortId> Port::rank() const {
    const auto& decides =
        variables.actor.system < variables.partner.system ? variables.actor : variables.partner;
    return {decides.system, decides.port};
}

NotSelected difference(const Port& port, const Port& chosen) {
    using enum NotSelected;
    const auto own = port.lag(), theirs = chosen.lag();
    if (port.link.duplex == Duplex::half) return half_duplex;
    if (own.individual != 0) return individual;
    if (own.own_key != theirs.own_key) return other_own_key;
    if (own.partner != theirs.partner) return other_system;
    return own.partner_key != theirs.partner_key ? other_key : other_policy;
}

std::string sentence_for(NotSelected why, const Port& port, const Port* chosen) {
    const auto& actor = port.variables.actor;
    const auto& partner = port.variables.partner;
    const auto& team = chosen == nullptr ? port.variables : chosen->variables;
    switch (why) {
    case NotSelected::other_system:
        return fmt::format("its partner is {}, the team's partner is {}: check the cables",
                           text_of(partner.system.address), text_of(team.partner.system.address));
    case NotSelected::other_key:
        return fmt::format("its partner's key is {}, the team's is {}: the switch has the port in another "
                           "aggregate",
                           partner.key, team.partner.key);
    case NotSelected::other_own_key:
        return fmt::format("its LACP key is {} ({} Mbit/s), that of the team is {}: its speed or its "
                           "lacp_key differs from the other ports",
                           actor.key, port.link.speed, team.actor.key);
    default: return sentence_for(why, port.answered);
    }
}

std::string sentence_for(NotSelected why, bool answered) {
    switch (why) {
    case NotSelected::none: return {};
    case NotSelected::no_link: return "it has no link, or the team is down";
    case NotSelected::half_duplex: return "its link is half duplex, which LACP does not aggregate";
    case NotSelected::looped: return "its own LACPDUs come back: a cable or a switch loops";
    case NotSelected::no_answer_yet: return "it waits for the first LACPDU of its partner";
    case NotSelected::partner_silent:
        return answered ? "its partner has stopped sending LACPDUs"
                        : "no partner answers: check that LACP is active on the switch's port";
    case NotSelected::other_system: return "it has another partner than the team";
    case NotSelected::other_key: return "its partner has another key than that of the team";
    case NotSelected::other_own_key: return "its LACP key differs from that of the other ports";
    case NotSelected::individual: return "its partner does not aggregate this link";
    case NotSelected::other_policy: return "agg_select_policy prefers another aggregator";
    case NotSelected::waiting: return "it waits for other ports that may join";
    case NotSelected::out_of_sync: return "its partner has not selected this link (no synchronization)";
    case NotSelected::held: return "its link watch is down: no answer from the far side";
    case NotSelected::drained: return "it is drained";
    case NotSelected::not_collecting: return "its partner does not receive on this link yet";
    }
    return {};
}

const char* teamd_name_of(ReceiveState state) {
    switch (state) {
    case ReceiveState::current: return "current";
    case ReceiveState::expired: return "expired";
    case ReceiveState::defaulted: return "defaulted";
    default: return "disabled";
    }
}

} // namespace teamo::lacp
