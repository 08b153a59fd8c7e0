// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/master_device.h"

namespace teamo {

Result<TeamDevice> create_master_device(LinkControl& links, const std::string& name, const std::string& kind,
                                        Result<> created) {
    const auto refuse = [&name](Error error) {
        return within(fmt::format("cannot create device {}", name), std::move(error));
    };
    if (!created) {
        if (created.error().number == EOPNOTSUPP)
            return refuse({EOPNOTSUPP, fmt::format("this kernel has no {} driver; use the datapath bpf "
                                                   "(option --datapath or key \"datapath\")",
                                                   kind)});
        return refuse(std::move(created.error()));
    }
    const auto team = links.read(name);
    if (!team) return refuse({ENODEV, "it disappeared while it was created"});
    auto marked = links.set_alias(team->index, fmt::format("{} (teamd-offload)", name));
    if (marked) marked = links.add_altname(team->index, team_mark(name));
    if (!marked) {
        static_cast<void>(links.remove(team->index)); // the first failure is reported
        return refuse(std::move(marked.error()));
    }
    return TeamDevice{.team = team->index, .inner = {}, .kind = kind};
}

Result<std::optional<TeamDevice>> find_master_device(const Links& links, const std::string& name,
                                                     const std::string& kind, bool take_over) {
    const auto* team = find_team(links, name);
    if (team == nullptr) return std::optional<TeamDevice>();
    const bool ours = find_altname(links, team_mark(name)) == team;
    if (team->kind != kind)
        return fail(EEXIST, fmt::format("device {0} exists and is not of the {1} driver; remove it (ip link "
                                        "del {0}), or start with -r to replace it",
                                        name, kind));
    if (!ours && !take_over)
        return fail(EEXIST, fmt::format("device {0} exists and is not a team of teamd-offload; start with -o "
                                        "to take it over, or with -r to replace it",
                                        name));
    return std::optional(TeamDevice{.team = team->index, .inner = {}, .kind = kind});
}

bool is_marked_master(const Link& link) { return team_of_device(link).has_value(); }

Result<bool> is_marked_master(LinkControl& links, IfIndex device) {
    return is_marked_master(TEAMO_TRY(links.read(device)));
}

Result<> mark_master_device(LinkControl& links, IfIndex device) {
    const auto link = TEAMO_TRY(links.read(device));
    return is_marked_master(link) ? Result<>() : links.add_altname(device, team_mark(link.name));
}

Result<> enslave(LinkControl& links, IfIndex port, IfIndex team) {
    const auto link = TEAMO_TRY(links.read(port));
    return link.master == team ? Result<>() : links.set_master(port, team);
}

Result<> release_slave(LinkControl& links, IfIndex port, IfIndex team) {
    const auto link = links.read(port);
    if (!link && link.error().number != ENODEV) return tl::unexpected(link.error());
    if (!link || !team || link->master != team) return {};
    return links.set_master(port, {});
}

} // namespace teamo
