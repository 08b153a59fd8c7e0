// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/bond/bond_device.h"

#include "datapath/master_device.h"
#include "kernel/bpf/kernel_types.h"
#include "kernel/netlink/bond_lacp.h"

#include <algorithm>

namespace teamo {
namespace {

/// EEXIST: the bond has another mode.
Result<> check_bond_mode(const Links& links, IfIndex bond, BondMode mode) {
    const auto* link = find_link(links, bond);
    if (link == nullptr || link->bond_mode == mode) return {};
    return fail(EEXIST,
                fmt::format("bond {} exists and its mode is not {}, which the team needs; start with -r "
                            "to replace it",
                            link->name, bond_mode_name(mode)));
}

/// Linux 6.18, and later versions of some earlier kernels.
bool has_port_priorities() {
    const auto types = KernelTypes::with_module("bonding");
    return types && types->has_function("bond_option_actor_port_prio_set");
}

} // namespace

std::vector<std::string> lacking_in_bonding(const TeamConfig& config) {
    using enum AggSelectPolicy;
    std::vector<std::string> list;
    const auto* lacp = std::get_if<LacpRunner>(&config.runner);
    if (lacp == nullptr) {
        if (config.min_ports > 1)
            list.emplace_back("/runner/min_ports: has no effect on the bond datapath with this runner, "
                              "because bonding has min_links only for LACP");
        return list;
    }
    const auto policy = lacp->agg_select_policy;
    if (policy == lacp_prio_stable || policy == port_config)
        list.push_back(fmt::format("/runner/agg_select_policy: bonding does not have {}, and selects by {}",
                                   name_of(policy), policy == port_config ? "bandwidth" : "stable"));
    if (lacp->fallback == LacpFallback::all_ports)
        list.emplace_back("/runner/fallback_method: with bonding one port carries without a partner");
    const auto sets_priority = [](const PortConfig& port) {
        return port.lacp_prio != PortConfig{}.lacp_prio;
    };
    // Reading the kernel's types costs megabytes.
    const bool lacks_priorities =
        std::ranges::any_of(config.ports, [&](const auto& port) { return sets_priority(port.second); }) &&
        !has_port_priorities();
    for (const auto& [name, port] : config.ports) {
        if (port.lacp_key != 0)
            list.push_back(fmt::format(
                "/ports/{}/lacp_key: has no effect, because bonding makes the key of the speed", name));
        if (lacks_priorities && sets_priority(port))
            list.push_back(fmt::format(
                "/ports/{}/lacp_prio: has no effect, because this kernel's bonding has no actor_port_prio",
                name));
    }
    return list;
}

Result<TeamDevice> create_bond_device(LinkControl& links, const std::string& name, const MacAddress& address,
                                      const BondSetup& setup) {
    return create_master_device(links, name, bond_kind, links.create_bond(name, address, setup));
}

Result<> claim_bond(LinkControl& links, IfIndex bond, const BondSetup& setup) {
    const auto now = TEAMO_TRY(links.read(bond));
    if (is_marked_master(now)) {
        if (setup.lacp && TEAMO_TRY(read_min_links(bond)) != setup.min_links)
            return links.set_up_bond(bond, setup); // an earlier daemon had another configuration
        // The others it has, and setting them anew lets bonding choose anew.
        return now.bond_policy == setup.policy ? Result<>() : links.set_bond_policy(bond, setup.policy);
    }
    TEAMO_TRY(links.set_up_bond(bond, setup));
    return mark_master_device(links, bond);
}

Result<std::optional<TeamDevice>> find_bond_device(const Links& links, const std::string& name,
                                                   bool take_over, BondMode mode) {
    auto found = TEAMO_TRY(find_master_device(links, name, bond_kind, take_over));
    if (found) TEAMO_TRY(check_bond_mode(links, found->team, mode));
    return found;
}

Result<std::optional<TeamDevice>> find_bond_of_others(const Links& links, const std::string& name) {
    const auto* bond = find_named(links, name);
    if (bond == nullptr) return std::optional<TeamDevice>();
    if (bond->kind != bond_kind)
        return fail(EEXIST,
                    fmt::format("device {} is not a bond, and the daemon can attach only to a bond", name));
    if (is_marked_master(*bond))
        return fail(EEXIST, fmt::format("{} is the bond of team {}, whose daemon steers it", name,
                                        *team_of_device(*bond)));
    return std::optional(TeamDevice{.team = bond->index, .inner = {}, .kind = bond_kind});
}

} // namespace teamo
