// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runner/runner.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace teamo {
namespace {

const Candidate* find(std::span<const Candidate> ports, std::optional<IfIndex> port) {
    if (!port) return nullptr;
    const auto found = std::ranges::find(ports, *port, &Candidate::port);
    return found == ports.end() ? nullptr : &*found;
}

auto rank(const Candidate& port) {
    return std::tuple(!is_silent(port.drain), !port.last, port.prio, port.speed, port.duplex == Duplex::full);
}

/// What is learned about switches is no change of the ports, nor is it how far a port is drained.
std::vector<Candidate> without_domains(std::span<const Candidate> ports) {
    std::vector<Candidate> list(ports.begin(), ports.end());
    for (auto& port : list) {
        port.domain = {};
        if (is_silent(port.drain)) port.drain = DrainPhase::drained;
    }
    return list;
}

/// For std::ranges::min_element(): the best rank first, then what shares least with a port in `domain`.
auto order_away_from(const FailureDomain& domain) {
    return [&domain](const Candidate& one, const Candidate& other) {
        if (rank(one) != rank(other)) return rank(one) > rank(other);
        return shared_parts(one.domain, domain) < shared_parts(other.domain, domain);
    };
}

std::vector<Candidate> usable(std::span<const Candidate> ports) {
    std::vector<Candidate> list(ports.begin(), ports.end());
    std::erase_if(list, [](const Candidate& port) { return !port.up; });
    return list;
}

} // namespace

/// Why `chosen` instead of the first of equal rank; none: it is the first.
std::optional<ActiveChoice> ActiveBackup::choice_over(std::span<const Candidate> ports,
                                                      const Candidate& chosen) const {
    const auto first = std::ranges::find_if(
        ports, [&](const Candidate& port) { return port.up && rank(port) == rank(chosen); });
    if (first == ports.end() || first->port == chosen.port || !active_) return std::nullopt;
    const auto before = shared_parts(first->domain, domain_), now = shared_parts(chosen.domain, domain_);
    const auto at = static_cast<std::size_t>(std::ranges::mismatch(before, now).in1 - before.begin());
    if (at == before.size()) return std::nullopt;
    return ActiveChoice{
        .chosen = chosen.port, .before = first->port, .lost = *active_, .part = all_domain_parts[at]};
}

/// The best port that is up; of equal ports the active one, then the one that shares least with an active
/// port that was lost, then the first that joined.
const Candidate* ActiveBackup::best(std::span<const Candidate> ports, const Candidate* current) const {
    const auto up = usable(ports);
    const bool is_lost = current == nullptr || !current->up;
    const auto away_from = is_lost ? domain_ : FailureDomain{};
    const auto found = std::ranges::min_element(up, order_away_from(away_from));
    if (found == up.end()) return nullptr;
    if (!is_lost && rank(*current) == rank(*found)) return current;
    return find(ports, found->port);
}

Decision ActiveBackup::step(std::span<const Candidate> ports) {
    const auto* current = find(ports, active_);
    // It may have lost its link while no daemon ran.
    if (std::exchange(was_by_hand_, false) && current != nullptr && current->up)
        chosen_among_ = without_domains(ports);
    const bool by_hand = !chosen_among_.empty() && std::ranges::equal(chosen_among_, without_domains(ports));
    if (!by_hand) chosen_among_.clear();

    if (current != nullptr) domain_ = current->domain;
    const bool stays = current != nullptr && current->up &&
                       ((current->sticky && !current->last && !is_silent(current->drain)) || by_hand);
    const auto* next = stays ? current : best(ports, current);
    if (next != current) {
        const bool was_lost = current == nullptr || !current->up;
        choice_ = next != nullptr && was_lost ? choice_over(ports, *next) : std::nullopt;
    }
    active_ = next == nullptr ? std::nullopt : std::optional(next->port);
    domain_ = next == nullptr ? FailureDomain{} : next->domain;

    Decision decision;
    decision.active = active_;
    decision.choice = choice_;
    if (active_) {
        decision.transmit = {*active_};
        decision.receive = {*active_};
        // What neighbours have sent to it before they learned of the change.
        for (const auto& port : ports)
            if (port.drain == DrainPhase::emptying && port.port != *active_)
                decision.receive.push_back(port.port);
        auto others = usable(ports);
        std::erase_if(others, [this](const Candidate& port) { return port.port == *active_; });
        std::ranges::stable_sort(others, order_away_from(domain_));
        std::ranges::transform(others, std::back_inserter(decision.standby), &Candidate::port);
    }
    return decision;
}

bool ActiveBackup::choose(IfIndex port, std::span<const Candidate> ports) {
    const auto* chosen = find(ports, port);
    if (chosen == nullptr || !chosen->up) return false;
    active_ = port;
    was_by_hand_ = false;
    chosen_among_ = without_domains(ports);
    choice_.reset();
    domain_ = chosen->domain;
    return true;
}

} // namespace teamo
