// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/report/overview.h"

#include "plan/team/bond_steering.h"
#include "text/numbers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <net/if_arp.h>

#include <algorithm>
#include <array>

namespace teamo::ctl {
namespace {

constexpr std::size_t most_not_free = 6;

struct DeviceRow {
    std::string device, what, offer;
};

std::string speed_of(const Overview& machine, const Link& link) {
    const auto found = machine.speeds.find(link.index);
    return found == machine.speeds.end() ? "" : fmt::format(", {} Mbit/s", found->second);
}

std::string link_of(const Overview& machine, const Link& link) {
    if (!link.is_up()) return "set down";
    return link.has_link() ? "link" + speed_of(machine, link) : "no link";
}

bool is_team(const Overview& machine, std::string_view name) {
    return std::ranges::find(machine.teams, name, &SeenTeam::name) != machine.teams.end();
}

// ---- teams ---------------------------------------------------------------------------------------

std::string work_of(const TeamState& state) {
    const auto carry = std::ranges::count_if(state.ports, &PortStatus::transmits);
    auto text = fmt::format("{} of {} carry", carry, counted(state.ports.size(), "port", "ports"));
    if (state.attached && state.attached->unsteered != Unsteered::nothing)
        text += "; " + text_of(*state.attached);
    return text;
}

DeviceRow row_of(const Overview& machine, const SeenTeam& team) {
    if (!team.state) return {team.name, "team", team.why};
    const auto& state = *team.state;
    auto what =
        state.attached ? fmt::format("bond {}", state.attached->mode) : fmt::format("team {}", state.runner);
    if (state.link.speed && state.link.up) what += fmt::format(", {} Mbit/s", *state.link.speed);
    auto work = "runs: " + work_of(state);
    if (const auto* link = find_team(machine.links, team.name); link != nullptr && !link->is_up())
        work += fmt::format("; it is set down: ip link set {} up", link->name);
    return {team.name, std::move(what), std::move(work)};
}

// ---- devices of other programs, and what the daemon would bring ----------------------------------

std::vector<const Link*> slaves_of(const Overview& machine, const Link& bond) {
    std::vector<const Link*> slaves;
    for (const auto& [index, link] : machine.links)
        if (link.master == bond.index) slaves.push_back(&link);
    return slaves;
}

Unsteered obstacle_of(const Overview& machine, const Link& bond) {
    BondSteering steering;
    steering.step(view_of(machine.links, bond), {});
    return steering.reason();
}

std::string offer_for(const Overview& machine, const Link& bond) {
    const auto mode = bond_mode_name(bond.bond_mode.value_or(0));
    const auto policy = bond.bond_policy ? text_of(*bond.bond_policy) : "";
    const auto obstacle = obstacle_of(machine, bond);
    if (obstacle != Unsteered::nothing)
        return "only watched: " +
               text_of(AttachedStatus{
                   .mode = mode, .policy = policy, .own_policy = policy, .unsteered = obstacle});
    if (bond.bond_mode == bond_mode_active_backup) return "gains: failover by the next packet";
    return "gains: balance by load, failover by the next packet";
}

DeviceRow row_of_bond(const Overview& machine, const Link& bond) {
    const auto slaves = slaves_of(machine, bond);
    const auto up = std::ranges::count_if(slaves, &Link::has_link);
    return {bond.name,
            fmt::format("bond {}, {} of {} up{}", bond_mode_name(bond.bond_mode.value_or(0)), up,
                        counted(slaves.size(), "slave", "slaves"), speed_of(machine, bond)),
            offer_for(machine, bond)};
}

/// None: it is of no team, or its daemon has answered.
std::optional<DeviceRow> row_of_silent_team(const Overview& machine, const Link& link) {
    const auto team = team_of_device(link);
    if (!team || is_team(machine, *team) || !link.has_name(team_mark(*team))) return std::nullopt;
    return DeviceRow{link.name, "team",
                     machine.silence.empty() ? "carries on, without a daemon" : "carries on"};
}

bool is_of_driver(const Link& link) { return link.kind == "team" && !team_of_device(link); }

// ---- free ports ----------------------------------------------------------------------------------

bool may_be_port(const Link& link, bool only_cards) {
    return link.type == ARPHRD_ETHER && !link.master && !port_mark_of(link) && !team_of_device(link) &&
           (only_cards ? link.kind.empty() : link.kind == "veth");
}

std::vector<const Link*> possible_ports(const Overview& machine) {
    const auto is_card = [](const auto& entry) {
        return entry.second.kind.empty() && entry.second.type == ARPHRD_ETHER;
    };
    const bool has_cards = std::ranges::any_of(machine.links, is_card);
    std::vector<const Link*> ports;
    for (const auto& [index, link] : machine.links)
        if (may_be_port(link, has_cards)) ports.push_back(&link);
    return ports;
}

/// Empty: it is free.
std::string use_of(const Overview& machine, const Link& port) {
    if (machine.addressed.contains(port.index)) return "has an address";
    for (const auto& [index, link] : machine.links)
        if (link.lower == port.index && !link.lower_elsewhere && link.kind != "veth")
            return fmt::format("is below {}", link.name);
    return {};
}

std::string not_free(const Overview& machine) {
    std::vector<std::string> list;
    for (const auto* port : possible_ports(machine))
        if (const auto use = use_of(machine, *port); !use.empty())
            list.push_back(fmt::format("{} ({})", port->name, use));
    if (list.empty()) return {};
    if (list.size() > most_not_free) {
        const auto more = list.size() - most_not_free;
        list.resize(most_not_free);
        list.push_back(fmt::format("{} more", more));
    }
    return "Not free: " + joined(list) + "\n";
}

std::vector<DeviceRow> rows_of(const Overview& machine) {
    std::vector<DeviceRow> rows;
    for (const auto& team : machine.teams)
        rows.push_back(row_of(machine, team));
    for (const auto& [index, link] : machine.links) {
        if (auto silent = row_of_silent_team(machine, link))
            rows.push_back(std::move(*silent));
        else if (is_team(machine, link.name) || team_of_device(link))
            continue;
        else if (link.kind == bond_kind)
            rows.push_back(row_of_bond(machine, link));
        else if (is_of_driver(link))
            rows.push_back({link.name, "team driver, another program's", "teamoctl import teamd"});
    }
    for (const auto* port : free_ports(machine))
        rows.push_back({port->name, link_of(machine, *port), "free"});
    return rows;
}

std::string text_of(std::vector<DeviceRow> rows, std::size_t most) {
    const auto more = rows.size() > most ? rows.size() - most : 0;
    rows.resize(rows.size() - more);
    std::size_t device = 0, what = 0;
    for (const auto& row : rows) {
        device = std::max(device, row.device.size());
        what = std::max(what, row.what.size());
    }
    std::string text;
    for (const auto& row : rows)
        text += fmt::format("{:<{}}  {:<{}}  {}\n", row.device, device, row.what, what, row.offer);
    if (more > 0) text += fmt::format("and {} more\n", more);
    return text;
}

std::string free_name(const Links& links) {
    for (unsigned number = 0;; ++number)
        if (auto name = fmt::format("team{}", number); find_named(links, name) == nullptr) return name;
}

const Link* bond_to_steer(const Overview& machine) {
    for (const auto& [index, link] : machine.links)
        if (link.kind == bond_kind && !is_team(machine, link.name) && !team_of_device(link) &&
            obstacle_of(machine, link) == Unsteered::nothing)
            return &link;
    return nullptr;
}

/// Also one whose daemon could not be asked.
bool has_team(const Overview& machine) {
    return !machine.teams.empty() || std::ranges::any_of(machine.links, [](const auto& entry) {
        return team_of_device(entry.second).has_value();
    });
}

std::string title_of(const Overview& machine) {
    if (!machine.silence.empty())
        return fmt::format("Which daemons run is not known: {}.\n", machine.silence);
    return has_team(machine) ? "" : "No team runs on this machine.\n";
}

std::string start_text(const Overview& machine) {
    const auto command = start_command(machine);
    if (command.empty()) return {};
    if (const auto* bond = bond_to_steer(machine))
        return fmt::format("Start, as root ({} keeps its mode, slaves and addresses):\n  {}\n", bond->name,
                           command);
    return fmt::format(
        "Start, for example, as root, until the next boot (a port and its standby, at any switch):\n  {}\n",
        command);
}

} // namespace

std::vector<const Link*> free_ports(const Overview& machine) {
    auto ports = possible_ports(machine);
    std::erase_if(ports, [&](const Link* port) { return !use_of(machine, *port).empty(); });
    std::ranges::stable_sort(ports, std::greater{}, [](const Link* port) { return port->has_link(); });
    return ports;
}

std::string start_command(const Overview& machine) {
    if (const auto* bond = bond_to_steer(machine))
        return (machine.has_unit ? "systemctl enable --now teamd-offload@"
                                 : "teamd-offload -d --attach -t ") +
               bond->name;
    const auto ports = free_ports(machine);
    if (has_team(machine) || ports.size() < 2) return {};
    return fmt::format(
        R"(teamd-offload -d -c '{{"device": "{}", "runner": {{"name": "activebackup"}}, "ports": {{"{}": {{}}, "{}": {{}}}}}}')",
        free_name(machine.links), ports[0]->name, ports[1]->name);
}

std::string overview_text(const Overview& machine) {
    auto rows = rows_of(machine);
    auto text = title_of(machine);
    if (rows.empty()) text += "It has no bond, and no port that is free.\n";
    text += text_of(std::move(rows), machine.most_rows);
    text += not_free(machine);
    text += start_text(machine);
    text += machine.teams.empty()
                ? "More: man teamd-offload (EXAMPLES), teamoctl --help\n"
                : fmt::format("More: teamoctl {} state, teamoctl doctor, teamoctl top, teamoctl --help\n",
                              machine.teams.front().name);
    return text;
}

} // namespace teamo::ctl
