// SPDX-License-Identifier: LGPL-2.1-or-later
#include "balance/bulk.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

namespace teamo {
namespace {

/// Shares of GSO bytes. Between them a bucket stays what its port makes of it, so that one that is now more,
/// now less, does not go to and fro.
constexpr double becomes_bulk = 0.6, remains_bulk = 0.4;
/// What has spilled comes back when so much of the limit is enough: without a reserve noise about the limit
/// moves three times as many buckets (tests/simulation/offload_test).
constexpr double return_share = 0.9;
/// Of the mean of the buckets of bulk there.
constexpr double worth_spilling = 0.25;

bool surely_bulk(const BucketLoad& load) { return load.bytes > 0 && load.bulk >= becomes_bulk * load.bytes; }

} // namespace

bool is_bulk(const BucketLoad& load) { return load.bytes > 0 && load.bulk >= remains_bulk * load.bytes; }

bool kinds_differ(const std::vector<WeighedPort>& ports) {
    const auto segments = [](const WeighedPort& port) { return port.segments; };
    return std::ranges::any_of(ports, segments) && !std::ranges::all_of(ports, segments);
}

constexpr double unlimited = std::numeric_limits<double>::infinity();

BulkPlacement::BulkPlacement(PlacementDraft& draft, const BalancePolicy& policy)
    : draft_(&draft), policy_(policy) {
    for (const auto& port : draft.ports()) {
        (port.segments ? capable_weight_ : poor_weight_) += port.weight;
        if (!port.segments) best_poor_weight_ = std::max(best_poor_weight_, port.weight);
        if (port.segments) limit_ += port.capacity > 0 ? policy.spill * port.capacity : unlimited;
    }
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
        if (const auto* owner = draft.port(draft.owner(bucket));
            owner != nullptr && is_bulk(draft.load(bucket)))
            moved(draft.bytes(bucket), nullptr, *owner);
}

bool BulkPlacement::fits(double bytes) const { return here_ + bytes <= return_share * limit_; }

/// Is on `from`, if that is a port, and goes to `to`.
void BulkPlacement::moved(double bytes, const WeighedPort* from, const WeighedPort& to) {
    if (from != nullptr) {
        bulk_on_[from->slot.value] -= bytes;
        (from->segments ? here_ : elsewhere_) -= bytes;
    }
    bulk_on_[to.slot.value] += bytes;
    (to.segments ? here_ : elsewhere_) += bytes;
}

/// What the capable ports will have: an even share, or all the bulk if that is more.
double BulkPlacement::level_for_capable() const {
    return std::max(draft_->mean(), (here_ + elsewhere_) / capable_weight_);
}

/// The port whose bulk stays lowest with it. As long as bulk is not what fills it, all that it has counts.
const WeighedPort& BulkPlacement::best(bool capable, double bytes) const {
    const double free_below = capable ? level_for_capable() : 0;
    const WeighedPort* best = nullptr;
    std::pair<double, double> least;
    for (const auto& port : draft_->ports()) {
        if (port.segments != capable) continue;
        const double of_bulk = (bulk_on_[port.slot.value] + bytes) / port.weight;
        const std::pair cost{std::max(0.0, of_bulk - free_below), draft_->level(port, bytes)};
        if (best == nullptr || cost < least) {
            best = &port;
            least = cost;
        }
    }
    assert(best != nullptr); // kinds_differ(): there are both
    return *best;
}

/// Of the levels of whole sides, and not of single ports: these even out later, and the answer shall stay.
bool BulkPlacement::better_off_elsewhere(double bytes) const {
    const double now = here_ / capable_weight_;
    return (elsewhere_ + bytes) / poor_weight_ < now && bytes / best_poor_weight_ < now;
}

/// The smallest bucket of bulk that is enough, or the largest; bucket_count: none is better off. Not those
/// that are next to nothing: where the large ones have to stay, a trickle does not help.
std::size_t BulkPlacement::next_to_spill() const {
    std::vector<std::size_t> bulk;
    for (const auto bucket : draft_->largest())
        if (draft_->on_capable(bucket) && is_bulk(draft_->load(bucket))) bulk.push_back(bucket);
    const double excess = here_ - limit_;
    const double least = std::min(excess, worth_spilling * here_ / static_cast<double>(bulk.size()));
    std::size_t found = bucket_count;
    for (const auto bucket : bulk) {
        const double bytes = draft_->bytes(bucket);
        if (draft_->rests(bucket) || bytes < least || !better_off_elsewhere(bytes)) continue;
        if (found == bucket_count || bytes >= excess) found = bucket;
    }
    return found;
}

void BulkPlacement::spill() {
    while (here_ > limit_) {
        const auto bucket = next_to_spill();
        if (bucket == bucket_count) return;
        const double bytes = draft_->bytes(bucket);
        const auto& from = *draft_->port(draft_->owner(bucket));
        const auto& to = best(/*capable=*/false, bytes);
        draft_->move(bucket, to.slot, MoveReason::load, bytes / from.weight / draft_->mean());
        moved(bytes, &from, to);
    }
}

void BulkPlacement::gather() {
    double all = 0, misplaced = 0;
    std::vector<std::size_t> strays;
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
        all += draft_->load(bucket).bulk;
        if (!surely_bulk(draft_->load(bucket)) || draft_->on_capable(bucket)) continue;
        strays.push_back(bucket);
        misplaced += draft_->load(bucket).bulk;
    }
    if (misplaced <= policy_.target * all) return;
    std::ranges::stable_sort(strays, std::greater<>{},
                             [this](std::size_t bucket) { return draft_->load(bucket).bulk; });
    for (const auto bucket : strays) {
        if (misplaced <= policy_.target / 2 * all) return;
        const auto& load = draft_->load(bucket);
        if (draft_->rests(bucket) || !fits(load.bytes)) continue;
        const auto* from = draft_->port(draft_->owner(bucket));
        const auto& to = best(/*capable=*/true, load.bytes);
        draft_->move(bucket, to.slot, MoveReason::offload, load.bulk / all);
        moved(load.bytes, from, to);
        misplaced -= load.bulk;
    }
}

PortClasses BulkPlacement::classes() const {
    PortClasses classes{};
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
        if (is_bulk(draft_->load(bucket)))
            classes[bucket] = draft_->on_capable(bucket) ? PortClass::capable : PortClass::poor;
    return classes;
}

} // namespace teamo
