// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runner/runner.h"

#include <algorithm>
#include <tuple>

namespace teamo {
namespace {

const Candidate* find(std::span<const Candidate> ports, std::optional<IfIndex> port) {
    if (!port) return nullptr;
    const auto found = std::ranges::find(ports, *port, &Candidate::port);
    return found == ports.end() ? nullptr : &*found;
}

auto rank(const Candidate& port) {
    return std::tuple(!port.last, port.prio, port.speed, port.duplex == Duplex::full);
}

/// The best port that is up; of equal ports the active one, then the first that joined.
const Candidate* best(std::span<const Candidate> ports, const Candidate* current) {
    const Candidate* best = current != nullptr && current->up ? current : nullptr;
    for (const auto& port : ports)
        if (port.up && (best == nullptr || rank(port) > rank(*best))) best = &port;
    return best;
}

} // namespace

Decision AllPorts::step(std::span<const Candidate> ports) {
    const bool wanted =
        std::ranges::any_of(ports, [](const Candidate& port) { return port.up && !port.last; });
    Decision decision;
    for (const auto& port : ports) {
        decision.receive.push_back(port.port);
        if (port.up && (!port.last || !wanted)) decision.transmit.push_back(port.port);
    }
    return decision;
}

Decision ActiveBackup::step(std::span<const Candidate> ports) {
    const bool by_hand = !chosen_among_.empty() && std::ranges::equal(chosen_among_, ports);
    if (!by_hand) chosen_among_.clear();

    const auto* current = find(ports, active_);
    const bool stays = current != nullptr && current->up && ((current->sticky && !current->last) || by_hand);
    const auto* next = stays ? current : best(ports, current);
    active_.reset();
    if (next == nullptr) return {};
    active_ = next->port;
    return {.transmit = {next->port}, .receive = {next->port}, .active = active_};
}

bool ActiveBackup::choose(IfIndex port, std::span<const Candidate> ports) {
    const auto* chosen = find(ports, port);
    if (chosen == nullptr || !chosen->up) return false;
    active_ = port;
    chosen_among_.assign(ports.begin(), ports.end());
    return true;
}

Runner make_runner(const RunnerConfig& config, std::optional<IfIndex> active) {
    if (std::holds_alternative<ActiveBackupRunner>(config)) return ActiveBackup(active);
    return AllPorts{};
}

Decision step(Runner& runner, std::span<const Candidate> ports) {
    return std::visit([ports](auto& one) { return one.step(ports); }, runner);
}

} // namespace teamo
