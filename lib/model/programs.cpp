// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/programs.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

namespace teamo {
namespace {

/// What happens to frames that a program of ours does not see.
std::string_view fate_without(std::string_view name) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 9> fates{{
        {"teamo_guard", "pass the guard unchecked"},
        {"teamo_receive", "are delivered even at a port that does not receive, and are not counted"},
        {"teamo_transmit", "leave by a port that the team has not chosen, or by none"},
        {"teamo_recheck", "may come from a port that does not receive"},
        {"teamo_avoid_lost_link", "leave by a port without a link until the daemon has noticed"},
        {"teamo_meter", "are not counted for balancing"},
        {"teamo_send_by_backup", "leave by a slave without a link until bonding has noticed"},
        {"teamo_hand_in", "are dropped at a backup until bonding has noticed a lost link"},
        {"teamo_sift", "are taken even if they come again or come back"},
    }};
    for (const auto& [of, fate] : fates)
        if (of == name) return fate;
    return "are not seen by it";
}

} // namespace

std::string text_of(const ForeignProgram& program) {
    auto text = program.priority != 0
                    ? fmt::format("the tc filter {} of priority {}", program.kind, program.priority)
                    : fmt::format("the {} program", program.kind);
    if (!program.name.empty()) text += " " + program.name;
    if (program.id != 0) text += fmt::format(" (id {})", program.id);
    return text;
}

std::string effect_of(const ProgramStatus& program, const ForeignProgram& before) {
    const auto begin =
        fmt::format("{} runs before {} ({}): frames that it ", text_of(before), program.name, program.hook);
    if (before.takes && program.redirects) return begin + "sends elsewhere do not reach the team";
    const auto accepts = begin + (before.takes ? "sends elsewhere " : "accepts (TC_ACT_OK, TCX_PASS) ");
    if (!program.redirects) return accepts + std::string(fate_without(program.name));
    if (program.catches_accepted) return accepts + "reach the team by nftables, and are not counted";
    return accepts + "do not reach the team";
}

} // namespace teamo
