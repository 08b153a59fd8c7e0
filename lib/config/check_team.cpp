// SPDX-License-Identifier: LGPL-2.1-or-later
#include "config/steps.h"

namespace teamo::config {
namespace {

void check_device_tls(const Located& document, const TeamConfig& team, Diagnostics& diagnostics) {
    if (!needs_device_tls(team)) return;
    auto where = document.member("offload").member(device_tls).where;
    const auto& ports = document.member("ports");
    if (!needs_device_tls(team.offload))
        for (const auto& [name, port] : team.ports)
            if (needs_device_tls(port.offload))
                where = ports.member(name).member("offload").member(device_tls).where;
    if (team.datapath == DatapathChoice::team || team.datapath == DatapathChoice::bpf)
        diagnostics.error(where,
                          "device TLS works only with the datapath bond; set \"datapath\": \"bond\", or "
                          "set the offload to \"keep\"");
    else if (!std::holds_alternative<LoadBalanceRunner>(team.runner))
        diagnostics.error(where, "device TLS needs the runner loadbalance");
}

/// Values that are valid, but have no effect with this runner.
void warn_of_ignored(const Located& document, const TeamConfig& team, Diagnostics& diagnostics) {
    const auto fields = hash_fields_of(team.runner);
    constexpr auto by_cpu = "has no effect with \"cpu\" in tx_hash: the sending CPU decides";
    if (const auto* balancer = tx_balancer_of(team.runner);
        balancer != nullptr && *balancer && has(fields, HashField::cpu))
        diagnostics.warning(document.member("runner").member("tx_balancer").where, by_cpu);
    for (const auto& [name, port] : team.ports) {
        if (!port.weight) continue;
        const auto where = document.member("ports").member(name).member("weight").where;
        if (fields == 0)
            diagnostics.warning(where, fmt::format("has no effect with the runner {}, which has no buckets",
                                                   name_of(team.runner)));
        else if (has(fields, HashField::cpu))
            diagnostics.warning(where, by_cpu);
    }
}

} // namespace

void check_team(const json::Value& document, const TeamConfig& team, Diagnostics& diagnostics) {
    const Located top{document, {"", document.place()}};
    warn_of_ignored(top, team, diagnostics);
    if (team.attach) return; // the bond decides the rest
    check_device_tls(top, team, diagnostics);
    if (const auto can_run = check_runner(team.datapath, team.runner); !can_run)
        diagnostics.error(top.member("runner").member("name").where, can_run.error().text);
}

} // namespace teamo::config
