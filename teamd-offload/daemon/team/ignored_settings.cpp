// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/team/ignored_settings.h"

#include "datapath/bond/bond_device.h"

#include <algorithm>

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

std::vector<std::string> ignored_by_datapath(const Datapath& datapath, const TeamConfig& config) {
    std::vector<std::string> list;
    const bool by_driver = datapath.name() == "team";
    if (datapath.kernel_hashes())
        list.emplace_back(
            "/offload/tls-hw-tx-offload: device TLS is required, so bonding chooses the ports by "
            "its layer3+4 hash: tx_hash, tx_balancer, balance, weights and drain of ports, delays and "
            "damping of "
            "link watches, other link watches than ethtool and \"demote\" have no effect");
    if (datapath.is_bond()) std::ranges::move(lacking_in_bonding(config), std::back_inserter(list));
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
