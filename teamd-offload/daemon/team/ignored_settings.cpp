// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/team/ignored_settings.h"

namespace teamo {

Result<Accepted> accept(ConfigurationRead read, std::string_view file) {
    if (!read.configuration) {
        const auto* why = read.refusal();
        return fail(EINVAL, why == nullptr ? fmt::format("{}: cannot be used", file) : text_of(*why, file));
    }
    std::vector<std::string> warnings;
    for (auto diagnostic : read.diagnostics) {
        if (diagnostic.tolerated) diagnostic.severity = Diagnostic::Severity::warning;
        if (diagnostic.severity == Diagnostic::Severity::warning)
            warnings.push_back(text_of(diagnostic, file));
    }
    return Accepted{std::move(*read.configuration), std::move(warnings)};
}

std::vector<std::string> ignored_settings(const Configuration& configuration) {
    std::vector<std::string> list;
    const auto& runner = configuration.team.runner;
    const auto* balance = std::get_if<LoadBalanceRunner>(&runner);
    if (balance != nullptr && balance->tx_balancer && has(hash_fields_of(runner), HashField::cpu))
        list.emplace_back(
            "/runner/tx_balancer: has no effect with \"cpu\" in tx_hash: the sending CPU decides");
    return list;
}

namespace {

/// LACP is that of bonding, which lacks these.
void add_ignored_by_bonding(const LacpRunner& lacp, const TeamConfig& config,
                            std::vector<std::string>& list) {
    using enum AggSelectPolicy;
    const auto policy = lacp.agg_select_policy;
    if (policy == lacp_prio_stable || policy == port_config)
        list.push_back(fmt::format("/runner/agg_select_policy: bonding does not have {}, and selects by {}",
                                   name_of(policy), policy == port_config ? "bandwidth" : "stable"));
    if (lacp.fallback == LacpFallback::all_ports)
        list.emplace_back("/runner/fallback_method: with bonding one port carries without a partner");
    for (const auto& [name, port] : config.ports) {
        if (port.lacp_key != 0)
            list.push_back(fmt::format(
                "/ports/{}/lacp_key: has no effect, because bonding makes the key of the speed", name));
        if (port.lacp_prio != PortConfig{}.lacp_prio)
            list.push_back(fmt::format("/ports/{}/lacp_prio: has no effect on the bond datapath", name));
    }
}

} // namespace

std::vector<std::string> ignored_by_datapath(const Datapath& datapath, const TeamConfig& config) {
    std::vector<std::string> list;
    const bool by_driver = datapath.name() == "team";
    if (datapath.kernel_hashes())
        list.emplace_back(
            "/offload/tls-hw-tx-offload: device TLS is required, so bonding chooses the ports by "
            "its layer3+4 hash: tx_hash, tx_balancer, balance, delays of link watches, "
            "other link watches than ethtool and \"demote\" have no effect");
    if (const auto* lacp = std::get_if<LacpRunner>(&config.runner); lacp != nullptr && datapath.is_bond())
        add_ignored_by_bonding(*lacp, config, list);
    if (by_driver && has(hash_fields_of(config.runner), HashField::cpu))
        list.emplace_back("/runner/tx_hash: with the team driver packets of a flow may be reordered when its "
                          "sender changes CPU; the other datapaths avoid that");
    for (const auto& [name, port] : config.ports)
        if (port.queue_id)
            list.push_back(
                by_driver ? fmt::format("/ports/{}/queue_id: the kernel may panic when this port loses its "
                                        "link (team_queue_override_transmit); remove it",
                                        name)
                          : fmt::format("/ports/{}/queue_id: has no effect on the {} datapath", name,
                                        datapath.name()));
    return list;
}

} // namespace teamo
