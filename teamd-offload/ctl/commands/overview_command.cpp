// SPDX-License-Identifier: LGPL-2.1-or-later
//
// teamoctl without arguments.
#include "ctl/commands.h"
#include "ctl/report/overview.h"
#include "kernel/ethtool/ethtool.h"
#include "kernel/netlink/addresses.h"
#include "kernel/netlink/links.h"

#include <filesystem>

namespace teamo::ctl {
namespace {

/// systemd runs (sd_booted(3)) and has the unit of the package, or one of an administrator.
bool has_unit() {
    std::error_code failed;
    if (!std::filesystem::exists("/run/systemd/system", failed)) return false;
    for (const auto* folder : {"/usr/lib", "/etc", "/usr/local/lib"})
        if (std::filesystem::exists(fmt::format("{}/systemd/system/teamd-offload@.service", folder), failed))
            return true;
    return false;
}

constexpr std::string_view who_may_ask = "only root and the group teamd-offload may ask";

std::string text_of(const Error& error, const std::string& team) {
    if (error.number == EACCES) return "runs; " + std::string(who_may_ask);
    if (error.number == ENODEV) return std::string(without_device);
    const auto name = team + ": "; // errors begin with it
    return error.text.starts_with(name) ? error.text.substr(name.size()) : error.text;
}

void add_teams(const Options& options, Overview& machine) {
    auto answers = ask_all_teams<TeamState>(options, [](Session& session) { return session.state(); });
    if (!answers) {
        machine.silence = answers.error().number == EACCES ? std::string(who_may_ask) : answers.error().text;
        return;
    }
    for (auto& [team, state] : answers->of_teams) {
        SeenTeam seen{.name = team};
        if (state)
            seen.state = std::move(*state);
        else
            seen.why = text_of(state.error(), team);
        machine.teams.push_back(std::move(seen));
    }
}

/// Of a device that nothing is asked about it is not needed: a machine may have thousands.
Result<> add_speeds(Overview& machine) {
    auto ethtool = TEAMO_TRY(Ethtool::open());
    std::vector<const Link*> shown = free_ports(machine);
    shown.resize(std::min(shown.size(), machine.most_rows));
    for (const auto& [index, link] : machine.links)
        if (link.kind == bond_kind) shown.push_back(&link);
    for (const auto* link : shown)
        if (const auto modes = ethtool.read_link_modes(link->index); modes && modes->speed)
            machine.speeds[link->index] = *modes->speed;
    return {};
}

} // namespace

CommandResult overview(const Options& options, Arguments) {
    auto control = TEAMO_TRY(LinkControl::open());
    Overview machine{.links = TEAMO_TRY(control.read_all()), .has_unit = has_unit()};
    for (const auto& address : TEAMO_TRY(read_addresses()))
        if (!address.ip.is_link_local()) machine.addressed.insert(address.device);
    add_teams(options, machine);
    TEAMO_TRY(add_speeds(machine));
    put(overview_text(machine));
    return {};
}

} // namespace teamo::ctl
