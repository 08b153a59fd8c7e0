// SPDX-License-Identifier: LGPL-2.1-or-later
#include "balance/rebalance.h"

#include "balance/fair_shares.h"

#include <algorithm>

namespace teamo {
namespace {

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
          fair_(fair_shares(draft, classes, policy.tolerance)) {}

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
    double share(const WeighedPort& port) const { return fair_.share[port.slot.value]; }
    double unit(const WeighedPort& port) const { return draft_->mean() * port.weight; }
    double above(const WeighedPort& port, double more = 0) const {
        return std::max(0.0, draft_->on(port) + more - share(port));
    }

    /// The port with the largest excess that is above the tolerance, or above the target once work on it
    /// began.
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
        return !fair_.settled[bucket] && allows((*classes_)[bucket], to) &&
               draft_->bytes(bucket) <= share(to);
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
            const double wanted = std::min(above(from), std::max(0.0, share(to) - draft_->on(to)));
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
        const double gain = draft_->relief(from, *step.to, step.amount);
        const bool makes_room = (gathered_ & bit(from.slot)) != 0 && !step.to->segments;
        const auto reason = makes_room ? MoveReason::offload : MoveReason::load;
        draft_->move(step.bucket, step.to->slot, reason, gain);
        if (step.swaps()) draft_->move(step.other, from.slot, reason, gain);
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
