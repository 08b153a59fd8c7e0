// SPDX-License-Identifier: LGPL-2.1-or-later
#include "balance/stages.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <tuple>

namespace teamo {
namespace {

/// Shares of GSO bytes. Hysteresis: between the thresholds a bucket keeps its class.
constexpr double becomes_bulk = 0.6, remains_bulk = 0.4;
/// Bulk returns only up to this share of the limit: without the reserve noise around the limit moves three
/// times as many buckets (tests/simulation/offload_test).
constexpr double return_share = 0.9;
/// The smallest bucket to spill, as a share of the mean bulk bucket.
constexpr double least_spill_share = 0.25;

bool is_clearly_bulk(const BucketLoad& load) {
    return load.bytes > 0 && load.bulk >= becomes_bulk * load.bytes;
}

} // namespace

bool is_bulk(const BucketLoad& load) { return load.bytes > 0 && load.bulk >= remains_bulk * load.bytes; }

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

bool BulkPlacement::fits(double bytes) const { return on_capable_ + bytes <= return_share * limit_; }

void BulkPlacement::moved(double bytes, const WeighedPort* from, const WeighedPort& to) {
    if (from != nullptr) {
        bulk_on_[from->slot.value] -= bytes;
        (from->segments ? on_capable_ : on_poor_) -= bytes;
    }
    bulk_on_[to.slot.value] += bytes;
    (to.segments ? on_capable_ : on_poor_) += bytes;
}

/// The port with the lowest level of bulk including `bytes`; of total load, if bulk does not fill the ports.
const WeighedPort& BulkPlacement::best(bool capable, double bytes) const {
    // The expected level of the capable ports: an even share, or all bulk if that is more.
    const double expected = std::max(draft_->mean(), (on_capable_ + on_poor_) / capable_weight_);
    const double free_below = capable ? expected : 0;
    const auto best = std::ranges::min_element(draft_->ports(), {}, [&](const WeighedPort& port) {
        const double of_bulk = (bulk_on_[port.slot.value] + bytes) / port.weight;
        return std::tuple(port.segments != capable, std::max(0.0, of_bulk - free_below),
                          draft_->level(port, bytes));
    });
    assert(best->segments == capable); // there are both kinds (place)
    return *best;
}

/// Compares the levels of all capable and all poor ports: single ports are evened out only later.
bool BulkPlacement::better_off_elsewhere(double bytes) const {
    const double now = on_capable_ / capable_weight_;
    return (on_poor_ + bytes) / poor_weight_ < now && bytes / best_poor_weight_ < now;
}

/// The smallest bulk bucket that is large enough to end the excess, else the largest; bucket_count: none
/// would be better off. Very small buckets are left out: if the large ones have to stay, they do not help.
std::size_t BulkPlacement::next_to_spill() const {
    std::vector<std::size_t> bulk;
    for (const auto bucket : draft_->largest())
        if (draft_->on_capable(bucket) && is_bulk(draft_->load(bucket))) bulk.push_back(bucket);
    const double excess = on_capable_ - limit_;
    const double least = std::min(excess, least_spill_share * on_capable_ / static_cast<double>(bulk.size()));
    std::size_t found = bucket_count;
    for (const auto bucket : bulk) {
        const double bytes = draft_->bytes(bucket);
        if (draft_->rests(bucket) || bytes < least || !better_off_elsewhere(bytes)) continue;
        if (found == bucket_count || bytes >= excess) found = bucket;
    }
    return found;
}

void BulkPlacement::spill() {
    while (on_capable_ > limit_) {
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
    double all = 0, misplaced_bulk = 0;
    std::vector<std::size_t> misplaced;
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
        all += draft_->load(bucket).bulk;
        if (!is_clearly_bulk(draft_->load(bucket)) || draft_->on_capable(bucket)) continue;
        misplaced.push_back(bucket);
        misplaced_bulk += draft_->load(bucket).bulk;
    }
    if (misplaced_bulk <= policy_.target * all) return;
    std::ranges::stable_sort(misplaced, std::greater<>{},
                             [this](std::size_t bucket) { return draft_->load(bucket).bulk; });
    for (const auto bucket : misplaced) {
        if (misplaced_bulk <= policy_.target / 2 * all) return;
        const auto& load = draft_->load(bucket);
        if (draft_->rests(bucket) || !fits(load.bytes)) continue;
        const auto* from = draft_->port(draft_->owner(bucket));
        const auto& to = best(/*capable=*/true, load.bytes);
        draft_->move(bucket, to.slot, MoveReason::offload, load.bulk / all);
        moved(load.bytes, from, to);
        misplaced_bulk -= load.bulk;
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
