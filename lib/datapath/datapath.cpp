// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/datapath.h"

#include "datapath/bond/steered_bond.h"
#include "datapath/bpf_datapath.h"
#include "datapath/master_device.h"
#include "datapath/team/team_datapath.h"

#include <algorithm>

namespace teamo {

std::optional<DatapathChoice> datapath_of(const Link& device) {
    if (device.kind == "team") return DatapathChoice::team;
    if (device.kind == "bond") return DatapathChoice::bond;
    if (device.kind == "veth" || device.kind == "netkit") return DatapathChoice::bpf;
    return std::nullopt;
}

Result<> check_kept(std::string_view datapath, DatapathChoice next) {
    const auto name = enum_names<DatapathChoice>[static_cast<std::size_t>(next)];
    if (next == DatapathChoice::automatic || name == datapath) return {};
    return fail(ENOTSUP,
                fmt::format("/datapath: a running team keeps its datapath, {}; stop the team and start "
                            "it again",
                            datapath));
}

Result<DatapathChoice> choose_datapath(DatapathChoice choice, LinkControl& links, const Link* existing,
                                       const TeamConfig& config) {
    if (choice != DatapathChoice::automatic) return choice;
    if (const auto its = existing == nullptr ? std::nullopt : datapath_of(*existing)) return *its;
    if (std::holds_alternative<SlbRunner>(config.runner)) return DatapathChoice::bpf;
    std::array drivers{std::pair{"team", DatapathChoice::team}, std::pair{"bond", DatapathChoice::bond}};
    if (has_mode_for(config.runner)) {
        static_cast<void>(links.knows_kind(bond_kind)); // loads the module, whose types are read
        if (lacking_in_bonding(config).empty()) std::ranges::reverse(drivers);
    }
    for (const auto& [kind, drives] : drivers) {
        if (drives == DatapathChoice::team && !knows_team_driver()) continue;
        const auto known = links.knows_kind(kind);
        if (!known)
            return within(fmt::format("cannot find out whether the kernel has the {} driver", kind),
                          known.error());
        if (*known) return drives;
    }
    return DatapathChoice::bpf;
}

namespace {

Result<std::unique_ptr<Datapath>> open_bond(const TeamConfig& config, HashKind hash, DevicePrograms& hooks) {
    BondSetup setup{.mode = bond_mode_of(config.runner), .policy = BondPolicy::encap34};
    if (const auto* lacp = std::get_if<LacpRunner>(&config.runner)) {
        setup.lacp = *lacp;
        setup.min_links = config.min_ports;
    }
    auto bond = TEAMO_TRY(SteeredBond::open(setup, hash, hooks));
    if (const auto lack = bond->cannot_steer(); !lack.empty() && !has_mode_for(config.runner))
        return fail(ENOTSUP, fmt::format("/runner/name: on a bond the runner {} needs a BPF program, and the "
                                         "kernel refuses it ({}); set \"datapath\": \"bpf\"",
                                         name_of(config.runner), lack));
    return std::unique_ptr<Datapath>(std::move(bond));
}

} // namespace

Result<OpenedDatapath> open_datapath(DatapathChoice choice, LinkControl& links, const Link* existing,
                                     const TeamConfig& config, DevicePrograms& hooks) {
    const auto hash = kind_of(hash_fields_of(config.runner));
    OpenedDatapath opened;
    if (config.attach) {
        opened.datapath = TEAMO_TRY(SteeredBond::open({}, hash, hooks));
        return opened;
    }
    if (needs_device_tls(config)) {
        const BondSetup by_its_own_hash{};
        opened.datapath = TEAMO_TRY(SteeredBond::open(by_its_own_hash, HashKind::by_flow, hooks));
        return opened;
    }
    auto chosen = TEAMO_TRY(choose_datapath(choice, links, existing, config));
    TEAMO_TRY(within("/runner/name", check_runner(chosen, config.runner)));
    if (choice == DatapathChoice::automatic && existing == nullptr && chosen == DatapathChoice::bond) {
        auto bond = open_bond(config, hash, hooks);
        opened.refusal = bond ? (*bond)->cannot_steer() : bond.error().text;
        if (opened.refusal.empty()) {
            opened.datapath = std::move(*bond);
            return opened;
        }
        // Bonding alone does less than the others.
        const bool has_team = knows_team_driver() && TEAMO_TRY(links.knows_kind("team"));
        chosen = has_team ? DatapathChoice::team : DatapathChoice::bpf;
    }
    switch (chosen) {
    case DatapathChoice::team:
        opened.datapath = TEAMO_TRY(TeamDatapath::open(mode_of(config.runner), hooks));
        break;
    case DatapathChoice::bond: opened.datapath = TEAMO_TRY(open_bond(config, hash, hooks)); break;
    default: opened.datapath = TEAMO_TRY(BpfDatapath::open(hash, config.device, hooks));
    }
    return opened;
}

Result<std::optional<TeamDevice>> find_device(DatapathChoice choice, const Links& links,
                                              const TeamConfig& config, bool take_over) {
    switch (choice) {
    case DatapathChoice::team: return find_master_device(links, config.device, "team", take_over);
    case DatapathChoice::bond:
        return find_bond_device(links, config.device, take_over, bond_mode_of(config.runner));
    default: return find_pair(links, config.device);
    }
}

} // namespace teamo
