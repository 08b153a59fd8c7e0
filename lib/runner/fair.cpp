// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runner/fair.h"

#include <algorithm>
#include <numeric>

namespace teamo {
namespace {

/// The ports that are still open, and the loads that are not closed in: two vessels, and water that may stand
/// in either besides what is bound to one.
class Pool {
public:
    Pool(const Draft& draft, const Sides& sides) {
        for (const auto& port : draft.ports())
            weight_[port.segments] += port.weight;
        for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
            of(sides[bucket]) += draft.bytes(bucket);
    }

    double level(bool capable) const {
        const double weight = weight_[0] + weight_[1];
        if (weight <= 0) return 0;
        const double even = (bound_[0] + bound_[1] + free_) / weight;
        for (const bool side : {false, true}) {
            if (weight_[side] <= 0 || bound_[side] <= even * weight_[side]) continue;
            if (side == capable) return bound_[side] / weight_[side];
            return weight_[capable] <= 0 ? 0 : (bound_[capable] + free_) / weight_[capable];
        }
        return even;
    }

    double& of(Side side) { return side == Side::any ? free_ : bound_[side == Side::capable]; }

    /// False where what is bound to that side would have no port left.
    bool close(const WeighedPort& port, double bound, double free) {
        const double rest = bound_[port.segments] - bound;
        const bool last = weight_[port.segments] - port.weight < port.weight * 1e-9;
        if (last && rest > bound_[port.segments] * 1e-9) return false;
        weight_[port.segments] = last ? 0 : weight_[port.segments] - port.weight;
        bound_[port.segments] = last ? 0 : std::max(0.0, rest);
        free_ = std::max(0.0, free_ - free);
        return true;
    }

private:
    std::array<double, 2> weight_{}, bound_{}; ///< by WeighedPort::segments
    double free_ = 0;
};

class Settling {
public:
    Settling(Draft& draft, const Sides& sides, double margin)
        : draft_(&draft), sides_(&sides), margin_(margin), pool_(draft, sides) {
        for (const auto& port : draft.ports())
            open_ |= bit(port.slot);
    }

    Fair shares() {
        std::vector<std::size_t> largest(bucket_count);
        std::iota(largest.begin(), largest.end(), 0);
        std::ranges::stable_sort(largest, std::greater<>{},
                                 [this](std::size_t bucket) { return draft_->bytes(bucket); });
        for (const auto bucket : largest)
            if (draft_->bytes(bucket) > 0) settle(bucket);
        for (const auto& port : draft_->ports())
            if (is_open(port)) fair_.share[port.slot.value] = pool_.level(port.segments) * port.weight;
        return fair_;
    }

private:
    bool is_open(const WeighedPort& port) const { return (open_ & bit(port.slot)) != 0; }
    double with(const WeighedPort& port, double bytes) const {
        return (settled_[port.slot.value] + bytes) / port.weight;
    }

    void settle(std::size_t bucket) {
        const double bytes = draft_->bytes(bucket);
        const auto& home = *draft_->port(draft_->home(bucket));
        if (bytes <= pool_.level(home.segments) * home.weight * (1 + 1e-9)) return;
        const auto* place = lightest(bucket, home);
        if (place == nullptr) return;
        if (place != &home)
            draft_->move(bucket, place->slot, MoveReason::load,
                         std::max(0.0, draft_->relief(home, *place, bytes)));
        fair_.settled.set(bucket);
        const auto slot = place->slot.value;
        settled_[slot] += bytes;
        ((*sides_)[bucket] == Side::any ? free_ : bound_)[slot] += bytes;
        if (with(*place, 0) <= pool_.level(place->segments)) return;
        if (!pool_.close(*place, bound_[slot], free_[slot])) return;
        open_ &= ~bit(place->slot);
        fair_.share[slot] = settled_[slot];
    }

    /// Home, unless it is lighter elsewhere by more than the margin.
    const WeighedPort* lightest(std::size_t bucket, const WeighedPort& home) const {
        const double bytes = draft_->bytes(bucket);
        const WeighedPort* best = is_open(home) ? &home : nullptr;
        double least = best == nullptr ? 0 : with(home, bytes) - margin_ * draft_->mean();
        for (const auto& port : draft_->ports()) {
            if (!is_open(port) || !allows((*sides_)[bucket], port)) continue;
            if (best != nullptr && with(port, bytes) >= least) continue;
            best = &port;
            least = with(port, bytes);
        }
        return best;
    }

    Draft* draft_;
    const Sides* sides_;
    double margin_;
    Pool pool_;
    SlotSet open_ = 0;
    std::array<double, max_ports + 1> settled_{}, bound_{}, free_{}; ///< bytes/s that were settled, by slot
    Fair fair_;
};

} // namespace

Fair fair_shares(Draft& draft, const Sides& sides, double margin) {
    return Settling(draft, sides, margin).shares();
}

} // namespace teamo
