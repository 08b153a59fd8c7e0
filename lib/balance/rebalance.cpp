// SPDX-License-Identifier: LGPL-2.1-or-later
#include "balance/stages.h"

#include <algorithm>

namespace teamo {
namespace {

// ---- the fair share of each port ---------------------------------------------------------------

/// The open ports and their load, in two pools: with and without TSO. Unbound load may go to either one.
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

/// Even by weight, as far as the classes allow. Buckets larger than a port's share are settled first: on
/// their owner, or on the port with the lowest level. A port that exceeds its share by these is closed to the
/// rest. `margin`: differences up to this share of the mean are not worth a move.
class FairShares {
public:
    FairShares(PlacementDraft& draft, const PortClasses& classes, double margin)
        : draft_(&draft), classes_(&classes), margin_(margin), pool_(draft, classes) {
        for (const auto& port : draft.ports())
            open_ |= bit(port.slot);
        for (const auto bucket : draft_->largest())
            if (draft_->rests(bucket)) settle_at(*draft_->port(draft_->owner(bucket)), bucket);
        for (const auto bucket : draft_->largest())
            if (!draft_->rests(bucket) && is_large(bucket)) settle(bucket);
        for (const auto& port : draft_->ports())
            if (is_open(port)) share_[port.slot.value] = open_share(port);
    }

    /// Bytes/s.
    double share(const WeighedPort& port) const { return share_[port.slot.value]; }
    /// Large and resting buckets are: their port is final.
    bool is_settled(std::size_t bucket) const { return is_settled_[bucket]; }

private:
    bool is_open(const WeighedPort& port) const { return (open_ & bit(port.slot)) != 0; }
    bool is_open(const WeighedPort& port, std::size_t bucket) const {
        return is_open(port) && allows((*classes_)[bucket], port);
    }
    double open_share(const WeighedPort& port) const { return pool_.level(port.segments) * port.weight; }
    double with(const WeighedPort& port, double bytes) const {
        return (settled_[port.slot.value] + bytes) / port.weight;
    }

    /// Whether it exceeds the share of any port, not only its owner's: after a move it must remain large.
    bool is_large(std::size_t bucket) const {
        return std::ranges::any_of(draft_->ports(), [this, bucket](const WeighedPort& port) {
            return is_open(port, bucket) && draft_->bytes(bucket) > open_share(port) * rounding;
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
        is_settled_.set(bucket);
        const auto slot = place.slot.value;
        settled_[slot] += bytes;
        if (is_open(place)) {
            ((*classes_)[bucket] == PortClass::any ? free_ : bound_)[slot] += bytes;
        } else { // a resting bucket on a port that is already above its share
            pool_.take((*classes_)[bucket], bytes);
            share_[slot] = settled_[slot];
        }
        while (close_one())
            continue; // less remaining load may put more ports above their share
    }

    /// The owner, if it has room; else the port with the lowest level, or the owner if that is about as good.
    const WeighedPort* place_for(std::size_t bucket) const {
        const double bytes = draft_->bytes(bucket);
        const auto& owner = *draft_->port(draft_->owner(bucket));
        const WeighedPort* best = is_open(owner, bucket) ? &owner : nullptr;
        if (best != nullptr && settled_[owner.slot.value] + bytes <= open_share(owner) * rounding)
            return best;
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
            if (!is_open(port) || settled_[slot] <= open_share(port) * rounding) continue;
            if (!pool_.close(port, bound_[slot], free_[slot])) continue;
            open_ &= ~bit(port.slot);
            share_[slot] = settled_[slot];
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
    std::array<double, max_ports + 1> share_{};
    std::bitset<bucket_count> is_settled_;
};

// ---- moves towards the shares ------------------------------------------------------------------

/// The least decrease of the excess that is worth a step, as a share of the smaller port's load at the mean.
constexpr double least_by_move = 0.0005, least_by_swap = 0.005;

/// A move of a bucket to a port, or a swap with a bucket of that port.
struct Step {
    std::size_t bucket = bucket_count, other = bucket_count;
    const WeighedPort* to = nullptr;
    double fall = 0;   ///< decrease of both ports' excess over their shares, bytes/s
    double amount = 0; ///< bytes/s that move
    bool swaps() const { return other != bucket_count; }
};

class Search {
public:
    Search(PlacementDraft& draft, const PortClasses& classes, const BalancePolicy& policy, SlotSet gathered)
        : draft_(&draft),
          classes_(&classes),
          policy_(policy),
          gathered_(gathered),
          fair_(draft, classes, policy.tolerance) {}

    /// Ends, because every step lowers the excess by at least a fixed amount.
    void run() {
        SlotSet working = 0, stuck = 0;
        while (const auto* port = most_above(working, stuck)) {
            working |= bit(port->slot);
            const auto step = best_step(*port);
            if (step.to == nullptr) {
                stuck |= bit(port->slot);
                continue;
            }
            apply(*port, step);
            stuck = 0;
        }
    }

private:
    double unit(const WeighedPort& port) const { return draft_->mean() * port.weight; }
    double above(const WeighedPort& port, double more = 0) const {
        return std::max(0.0, draft_->on(port) + more - fair_.share(port));
    }

    /// The port with the largest excess above the tolerance; once work on it began, above the target.
    const WeighedPort* most_above(SlotSet working, SlotSet stuck) const {
        const WeighedPort* found = nullptr;
        double most = 0;
        for (const auto& port : draft_->ports()) {
            if ((stuck & bit(port.slot)) != 0) continue;
            const double excess = above(port) / unit(port);
            const bool begun = (working & bit(port.slot)) != 0;
            if (excess <= (begun ? policy_.target : policy_.tolerance) || excess <= most) continue;
            found = &port;
            most = excess;
        }
        return found;
    }

    bool may_go(std::size_t bucket, const WeighedPort& to) const {
        return !fair_.is_settled(bucket) && allows((*classes_)[bucket], to) &&
               draft_->bytes(bucket) <= fair_.share(to);
    }

    /// Sets `fall`; returns whether the step is worth it.
    bool evaluate(Step& step, const WeighedPort& from) const {
        if (draft_->relief(from, *step.to, step.amount) <= 0) return false;
        step.fall = above(from) + above(*step.to) - above(from, -step.amount) - above(*step.to, step.amount);
        const double least = step.swaps() ? least_by_swap : least_by_move;
        return step.fall >= least * std::min(unit(from), unit(*step.to));
    }

    /// The larger decrease is better; of equal ones, the smaller amount.
    bool better(const Step& one, const Step& than) const {
        if (than.to == nullptr) return true;
        const double least = 1e-9 * draft_->total();
        if (one.fall > than.fall + least) return true;
        return one.fall >= than.fall - least && one.amount < than.amount;
    }

    Step best_single(const WeighedPort& from, const std::vector<std::size_t>& buckets) const {
        Step best;
        for (const auto bucket : buckets)
            for (const auto& to : draft_->ports()) {
                if (&to == &from || !may_go(bucket, to)) continue;
                Step step{.bucket = bucket, .to = &to, .amount = draft_->bytes(bucket)};
                if (evaluate(step, from) && better(step, best)) best = step;
            }
        return best;
    }

    /// The gain of both ports rises with the amount, up to the excess of one or the room of the other, and
    /// then falls: so only the two buckets around that amount can be the best ones to swap.
    Step best_swap(const WeighedPort& from, const std::vector<std::size_t>& buckets) const {
        Step best;
        for (const auto& to : draft_->ports()) {
            if (&to == &from) continue;
            auto others = draft_->busy(to.slot);
            std::erase_if(others, [&](std::size_t other) { return !may_go(other, from); });
            const double wanted = std::min(above(from), std::max(0.0, fair_.share(to) - draft_->on(to)));
            for (const auto bucket : buckets) {
                if (!may_go(bucket, to)) continue;
                const auto enough =
                    std::ranges::lower_bound(others, draft_->bytes(bucket) - wanted, std::greater<>{},
                                             [this](std::size_t other) { return draft_->bytes(other); });
                const auto first = enough == others.begin() ? enough : enough - 1;
                for (auto other = first; other != others.end() && other <= enough; ++other) {
                    const double amount = draft_->bytes(bucket) - draft_->bytes(*other);
                    Step step{.bucket = bucket, .other = *other, .to = &to, .amount = amount};
                    if (amount > 0 && evaluate(step, from) && better(step, best)) best = step;
                }
            }
        }
        return best;
    }

    /// A swap costs two moves: it is used if one move is not enough and it gains more than twice as much.
    Step best_step(const WeighedPort& from) const {
        const auto buckets = draft_->busy(from.slot);
        const auto single = best_single(from, buckets);
        if (single.to != nullptr && above(from) - single.fall <= policy_.target * unit(from)) return single;
        const auto swap = best_swap(from, buckets);
        return swap.to != nullptr && swap.fall > 2 * single.fall ? swap : single;
    }

    void apply(const WeighedPort& from, const Step& step) {
        const bool makes_room = (gathered_ & bit(from.slot)) != 0 && !step.to->segments;
        const auto reason = makes_room ? MoveReason::offload : MoveReason::load;
        const double gain = draft_->relief(from, *step.to, step.amount);
        if (!step.swaps()) return draft_->move(step.bucket, step.to->slot, reason, gain);
        // What one of the two gains is what both gain without what the other one gains alone.
        const auto with = [&](std::size_t other, double moves_alone) {
            const double alone = draft_->relief(from, *step.to, moves_alone);
            return BucketMove::Swap{.other = static_cast<std::uint8_t>(other),
                                    .gain_after_other = std::max(0.0, gain - alone)};
        };
        const auto there = with(step.other, -draft_->bytes(step.other));
        const auto back = with(step.bucket, draft_->bytes(step.bucket));
        draft_->move(step.bucket, step.to->slot, reason, gain, there);
        draft_->move(step.other, from.slot, reason, gain, back);
    }

    PlacementDraft* draft_;
    const PortClasses* classes_;
    BalancePolicy policy_;
    SlotSet gathered_;
    FairShares fair_;
};

} // namespace

void rebalance(PlacementDraft& draft, const PortClasses& classes, const BalancePolicy& policy,
               SlotSet gathered) {
    const auto before = draft;
    Search(draft, classes, policy, gathered).run();
    // The new port of a large bucket may have load that no other port can take.
    if (draft.fullest() > before.fullest() * (1 + 1e-9)) draft = before;
}

} // namespace teamo
