// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/datapath.h"

#include "datapath/bond/attached_bond.h"
#include "datapath/bond/bond_datapath.h"
#include "datapath/bpf_datapath.h"
#include "datapath/team/team_datapath.h"

#include <algorithm>

namespace teamo {

Result<DatapathChoice> choose_datapath(DatapathChoice choice, LinkControl& links, const Link* existing,
                                       bool needs_carrier) {
    if (choice != DatapathChoice::automatic) return choice;
    if (existing != nullptr && existing->kind == "team") return DatapathChoice::team;
    if (existing != nullptr && existing->kind == "bond") return DatapathChoice::bond;
    if (existing != nullptr && (existing->kind == "veth" || existing->kind == "netkit"))
        return DatapathChoice::bpf;
    for (const auto& [kind, drives] :
         {std::pair{"team", DatapathChoice::team}, {"bond", DatapathChoice::bond}}) {
        if (drives == DatapathChoice::team && !knows_team_driver()) continue;
        const auto known = links.knows_kind(kind);
        if (!known)
            return within(fmt::format("cannot find out whether the kernel has the {} driver", kind),
                          known.error());
        if (*known && !(needs_carrier && drives == DatapathChoice::bond)) return drives;
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

Result<std::unique_ptr<Datapath>> open_datapath(DatapathChoice choice, LinkControl& links,
                                                const Link* existing, const TeamConfig& config,
                                                DevicePrograms& hooks) {
    if (config.attach) return std::unique_ptr<Datapath>(TEAMO_TRY(AttachedBond::open(hooks)));
    TEAMO_TRY(check_device_tls(choice, config));
    if (needs_device_tls(config))
        return std::unique_ptr<Datapath>(TEAMO_TRY(KernelHashDatapath::open(hooks)));
    const auto chosen = TEAMO_TRY(choose_datapath(choice, links, existing, withholds_carrier(config.runner)));
    const bool by_cpu = has(hash_fields_of(config.runner), HashField::cpu);
    switch (chosen) {
    case DatapathChoice::team: return TeamDatapath::open(mode_of(config.runner), hooks);
    case DatapathChoice::bond: return std::unique_ptr<Datapath>(TEAMO_TRY(BondDatapath::open(by_cpu, hooks)));
    default: return std::unique_ptr<Datapath>(TEAMO_TRY(BpfDatapath::open(by_cpu, config.device, hooks)));
    }
}

} // namespace teamo
