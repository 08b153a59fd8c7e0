// SPDX-License-Identifier: LGPL-2.1-or-later
#include "balance/fair_shares.h"

#include <algorithm>

namespace teamo {
namespace {

/// The open ports and their load, in two pools (ports with and without TSO). Unbound load may go to either
/// pool.
class Pool {
public:
    Pool(const PlacementDraft& draft, const PortClasses& classes) {
        for (const auto& port : draft.ports())
            weight_[port.segments] += port.weight;
        for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
            of(classes[bucket]) += draft.bytes(bucket);
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

    void take(PortClass from, double bytes) { of(from) = std::max(0.0, of(from) - bytes); }

    double& of(PortClass part) { return part == PortClass::any ? free_ : bound_[part == PortClass::capable]; }

    /// False if load that is bound to the port's pool would have no port left.
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

/// Tolerance for sums of the same numbers in another order.
constexpr double rounding = 1 + 1e-9;

class ShareCalculation {
public:
    ShareCalculation(PlacementDraft& draft, const PortClasses& classes, double margin)
        : draft_(&draft), classes_(&classes), margin_(margin), pool_(draft, classes) {
        for (const auto& port : draft.ports())
            open_ |= bit(port.slot);
    }

    FairShares shares() {
        for (const auto bucket : draft_->largest())
            if (draft_->rests(bucket)) settle_at(*draft_->port(draft_->owner(bucket)), bucket);
        for (const auto bucket : draft_->largest())
            if (!draft_->rests(bucket) && is_large(bucket)) settle(bucket);
        for (const auto& port : draft_->ports())
            if (is_open(port)) fair_.share[port.slot.value] = share(port);
        return fair_;
    }

private:
    bool is_open(const WeighedPort& port) const { return (open_ & bit(port.slot)) != 0; }
    bool is_open(const WeighedPort& port, std::size_t bucket) const {
        return is_open(port) && allows((*classes_)[bucket], port);
    }
    double share(const WeighedPort& port) const { return pool_.level(port.segments) * port.weight; }
    double with(const WeighedPort& port, double bytes) const {
        return (settled_[port.slot.value] + bytes) / port.weight;
    }

    /// Whether it exceeds the share of any port. This does not depend on its owner: a large bucket must
    /// remain large after it has moved.
    bool is_large(std::size_t bucket) const {
        return std::ranges::any_of(draft_->ports(), [this, bucket](const WeighedPort& port) {
            return is_open(port, bucket) && draft_->bytes(bucket) > share(port) * rounding;
        });
    }

    void settle(std::size_t bucket) {
        const auto* place = place_for(bucket);
        if (place == nullptr) return;
        const double bytes = draft_->bytes(bucket);
        const auto& owner = *draft_->port(draft_->owner(bucket));
        if (place != &owner)
            draft_->move(bucket, place->slot, MoveReason::load,
                         std::max(0.0, draft_->relief(owner, *place, bytes)));
        settle_at(*place, bucket);
    }

    void settle_at(const WeighedPort& place, std::size_t bucket) {
        const double bytes = draft_->bytes(bucket);
        fair_.settled.set(bucket);
        const auto slot = place.slot.value;
        settled_[slot] += bytes;
        if (is_open(place)) {
            ((*classes_)[bucket] == PortClass::any ? free_ : bound_)[slot] += bytes;
        } else { // a resting bucket on a port that is already above its share
            pool_.take((*classes_)[bucket], bytes);
            fair_.share[slot] = settled_[slot];
        }
        while (close_one())
            continue; // less remaining load may put more ports above their share
    }

    /// The owner, if it has room; else the port with the lowest level, or the owner if that is about as good.
    const WeighedPort* place_for(std::size_t bucket) const {
        const double bytes = draft_->bytes(bucket);
        const auto& owner = *draft_->port(draft_->owner(bucket));
        const WeighedPort* best = is_open(owner, bucket) ? &owner : nullptr;
        if (best != nullptr && settled_[owner.slot.value] + bytes <= share(owner) * rounding) return best;
        double least = best == nullptr ? 0 : with(owner, bytes) - margin_ * draft_->mean();
        for (const auto& port : draft_->ports()) {
            if (!is_open(port, bucket) || (best != nullptr && with(port, bytes) >= least)) continue;
            best = &port;
            least = with(port, bytes);
        }
        return best;
    }

    bool close_one() {
        for (const auto& port : draft_->ports()) {
            const auto slot = port.slot.value;
            if (!is_open(port) || settled_[slot] <= share(port) * rounding) continue;
            if (!pool_.close(port, bound_[slot], free_[slot])) continue;
            open_ &= ~bit(port.slot);
            fair_.share[slot] = settled_[slot];
            return true;
        }
        return false;
    }

    PlacementDraft* draft_;
    const PortClasses* classes_;
    double margin_;
    Pool pool_;
    SlotSet open_ = 0;
    std::array<double, max_ports + 1> settled_{}, bound_{}, free_{}; ///< by slot: settled bytes/s
    FairShares fair_;
};

} // namespace

FairShares fair_shares(PlacementDraft& draft, const PortClasses& classes, double margin) {
    return ShareCalculation(draft, classes, margin).shares();
}

} // namespace teamo
