// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runner/runner.h"

#include "base/match.h"

#include <algorithm>
#include <functional>
#include <iterator>

namespace teamo {
namespace {

/// The lower the better.
int reluctance(const Candidate& port) { return is_silent(port.drain) ? 2 : port.last ? 1 : 0; }

/// By the ports that `can_send` and are wanted most; the others stand by.
void send_by(std::span<const Candidate> ports, auto can_send, Decision& decision) {
    std::vector<Candidate> able;
    std::ranges::copy_if(ports, std::back_inserter(able), can_send);
    std::ranges::stable_sort(able, {}, reluctance);
    for (const auto& port : able)
        (reluctance(port) == reluctance(able.front()) ? decision.transmit : decision.standby)
            .push_back(port.port);
}

Lacp make_lacp(const LacpRunner& config, const RunnerStart& start) {
    lacp::System system(lacp_settings(config, start));
    for (const auto& [port, memory] : start.lacp_memory)
        system.restore(port, memory);
    return Lacp(std::move(system));
}

} // namespace

Decision AllPorts::step(std::span<const Candidate> ports) {
    Decision decision;
    std::ranges::transform(ports, std::back_inserter(decision.receive), &Candidate::port);
    send_by(ports, &Candidate::up, decision);
    return decision;
}

void Lacp::update(std::span<const Candidate> ports, Clock::time_point now) {
    std::vector<lacp::Link> links;
    for (const auto& port : ports)
        links.push_back({.port = port.port,
                         .number = port.slot.value,
                         .up = port.up,
                         .held = port.held,
                         .drain = others_carry_ || port.drain_forced ? port.drain : DrainPhase::none,
                         .speed = port.speed,
                         .duplex = port.duplex,
                         .priority = port.lacp_prio,
                         .key = port.lacp_key,
                         .preference = port.prio,
                         .sticky = port.sticky,
                         .losses = port.carrier_losses});
    system_.update(links, now);
}

/// A drained port negotiates again when no other one distributes.
Decision Lacp::step(std::span<const Candidate> ports, Clock::time_point now) {
    update(ports, now);
    const auto& carrying = system_.carrying();
    const auto distributes = [&carrying](const Candidate& port) {
        return std::ranges::find(carrying.distributing, port.port) != carrying.distributing.end();
    };
    const bool others_do = std::ranges::any_of(
        ports, [&](const Candidate& port) { return port.drain == DrainPhase::none && distributes(port); });
    if (std::exchange(others_carry_, others_do) != others_do) update(ports, now);
    Decision decision;
    decision.receive = carrying.collecting;
    decision.falls_back = carrying.falls_back;
    send_by(ports, distributes, decision);
    // So that the team driver receives by it too: it does so by ports that transmit or stand by.
    for (const auto& port : ports)
        if (others_carry_ && port.up && is_silent(port.drain) && !port.drain_forced && !distributes(port))
            decision.standby.push_back(port.port);
    return decision;
}

lacp::Settings lacp_settings(const LacpRunner& config, const RunnerStart& start) {
    return {.system = {.priority = config.sys_prio, .address = start.system},
            .active = config.active,
            .fast_rate = config.fast_rate,
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
