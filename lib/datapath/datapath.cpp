// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/datapath.h"

#include "datapath/bond/steered_bond.h"
#include "datapath/bpf_datapath.h"
#include "datapath/team/team_datapath.h"

#include <algorithm>

namespace teamo {

Result<DatapathChoice> choose_datapath(DatapathChoice choice, LinkControl& links, const Link* existing,
                                       const TeamConfig& config) {
    if (choice != DatapathChoice::automatic) return choice;
    if (existing != nullptr && existing->kind == "team") return DatapathChoice::team;
    if (existing != nullptr && existing->kind == "bond") return DatapathChoice::bond;
    if (existing != nullptr && (existing->kind == "veth" || existing->kind == "netkit"))
        return DatapathChoice::bpf;
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

bool needs_device_tls(const TeamConfig& config) {
    const auto required = [](const OffloadContract& contract) {
        const auto wish = contract.wishes.find(device_tls);
        return wish != contract.wishes.end() && wish->second == OffloadWish::require;
    };
    return required(config.offload) ||
           std::ranges::any_of(config.ports, [&](const auto& port) { return required(port.second.offload); });
}

Result<> check_device_tls(DatapathChoice choice, const TeamConfig& config) {
    if (!needs_device_tls(config)) return {};
    if (choice == DatapathChoice::team || choice == DatapathChoice::bpf)
        return fail(ENOTSUP, "/offload/tls-hw-tx-offload: device TLS works only with the datapath bond; set "
                             "\"datapath\": \"bond\", or set the offload to \"keep\"");
    if (!std::holds_alternative<LoadBalanceRunner>(config.runner))
        return fail(ENOTSUP, "/offload/tls-hw-tx-offload: device TLS needs the runner loadbalance");
    return {};
}

Result<> check_runner(DatapathChoice choice, const TeamConfig& config) {
    if (choice != DatapathChoice::team || !std::holds_alternative<SlbRunner>(config.runner)) return {};
    return fail(ENOTSUP, "/runner/name: the kernel's team driver cannot drop what the switches bring back, "
                         "which the runner slb needs; set \"datapath\": \"bpf\"");
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
    TEAMO_TRY(check_device_tls(choice, config));
    if (needs_device_tls(config)) {
        const BondSetup by_its_own_hash{};
        opened.datapath = TEAMO_TRY(SteeredBond::open(by_its_own_hash, HashKind::by_flow, hooks));
        return opened;
    }
    auto chosen = TEAMO_TRY(choose_datapath(choice, links, existing, config));
    TEAMO_TRY(check_runner(chosen, config));
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

} // namespace teamo
