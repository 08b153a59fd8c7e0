// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runner/runner.h"

#include "base/match.h"

namespace teamo {
namespace {

Lacp make_lacp(const LacpRunner& config, const RunnerStart& start) {
    lacp::System system(lacp_settings(config, start));
    for (const auto& [port, memory] : start.lacp_memory)
        system.restore(port, memory);
    return Lacp(std::move(system));
}

} // namespace

lacp::Settings lacp_settings(const LacpRunner& config, const RunnerStart& start) {
    return {.system = {.priority = config.sys_prio, .address = start.system},
            .active = config.active,
            .fast_rate = config.fast_rate,
            .min_ports = config.min_ports,
            .policy = config.agg_select_policy,
            .fallback = config.fallback,
            .control = start.can_only_receive ? lacp::MuxControl::independent : lacp::MuxControl::coupled};
}

Runner make_runner(const RunnerConfig& config, const RunnerStart& start) {
    if (std::holds_alternative<ActiveBackupRunner>(config))
        return ActiveBackup(start.active, start.active_by_hand);
    if (const auto* lacp = std::get_if<LacpRunner>(&config)) return make_lacp(*lacp, start);
    return AllPorts{};
}

Decision step(Runner& runner, std::span<const Candidate> ports, Clock::time_point now) {
    return std::visit(Match{[&](Lacp& lacp) { return lacp.step(ports, now); },
                            [&](auto& other) { return other.step(ports); }},
                      runner);
}

} // namespace teamo
