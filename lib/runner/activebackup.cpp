// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runner/activebackup.h"

#include <algorithm>
#include <iterator>
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

Decision ActiveBackup::step(std::span<const Candidate> ports) {
    const bool by_hand = !chosen_among_.empty() && std::ranges::equal(chosen_among_, ports);
    if (!by_hand) chosen_among_.clear();

    const auto* current = find(ports, active_);
    const bool stays = current != nullptr && current->up && ((current->sticky && !current->last) || by_hand);
    const auto* next = stays ? current : best(ports, current);
    active_ = next == nullptr ? std::nullopt : std::optional(next->port);

    Decision decision;
    decision.active = active_;
    if (active_) {
        decision.transmit = {*active_};
        decision.receive = {*active_};
        std::vector<Candidate> others(ports.begin(), ports.end());
        std::erase_if(others, [this](const Candidate& port) { return !port.up || port.port == *active_; });
        std::ranges::stable_sort(others, std::ranges::greater{}, rank);
        std::ranges::transform(others, std::back_inserter(decision.standby), &Candidate::port);
    }
    return decision;
}

bool ActiveBackup::choose(IfIndex port, std::span<const Candidate> ports) {
    const auto* chosen = find(ports, port);
    if (chosen == nullptr || !chosen->up) return false;
    active_ = port;
    chosen_among_.assign(ports.begin(), ports.end());
    return true;
}

} // namespace teamo
