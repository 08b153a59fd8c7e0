// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The stages: buckets without an owner get one; bulk leaves full capable ports and moves to those with room
// (bulk.h); then the ports' fair shares are computed (fair_shares.h) and moves towards them are searched
// (rebalance.h). Each stage is idempotent, and no later stage undoes the reason of an earlier one, so a
// second run moves nothing.
#include "balance/balancer.h"

#include "balance/bulk.h"
#include "balance/placement_draft.h"
#include "balance/rebalance.h"

#include <algorithm>

namespace teamo {
namespace {

using Counts = std::array<std::size_t, max_ports + 1>;

/// Buckets with load first, the largest first, each to the port with the lowest level including it; idle
/// buckets then even out the numbers of buckets.
void assign_owners(PlacementDraft& draft, bool split, const BalancePolicy& policy) {
    std::vector<std::size_t> unowned;
    Counts counts{};
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
        if (draft.port(draft.owner(bucket)) == nullptr)
            unowned.push_back(bucket);
        else
            ++counts[draft.owner(bucket).value];
    std::ranges::stable_sort(unowned, std::greater<>{},
                             [&draft](std::size_t bucket) { return draft.bytes(bucket); });
    BulkPlacement bulk(draft, policy);
    for (const auto bucket : unowned) {
        const double bytes = draft.bytes(bucket);
        const bool to_capable = split && is_bulk(draft.load(bucket)) && bulk.fits(bytes);
        const auto cost = [&](const WeighedPort& port) {
            return std::pair{bytes > 0 ? draft.level(port, bytes) : 0,
                             static_cast<double>(counts[port.slot.value] + 1) / port.weight};
        };
        const WeighedPort* best = nullptr;
        for (const auto& port : draft.ports())
            if ((!to_capable || port.segments) && (best == nullptr || cost(port) < cost(*best))) best = &port;
        ++counts[best->slot.value];
        draft.move(bucket, best->slot, MoveReason::membership, 0);
        if (is_bulk(draft.load(bucket))) bulk.moved(bytes, nullptr, *best);
    }
}

/// The ports that got bulk between two drafts.
SlotSet gained_bulk(const PlacementDraft& before, const PlacementDraft& after) {
    SlotSet gained = 0;
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
        if (before.owner(bucket) != after.owner(bucket) && after.on_capable(bucket))
            gained |= bit(after.owner(bucket));
    return gained;
}

} // namespace

Placement place(const BucketOwners& now, const BucketLoads& loads, std::span<const BalancedPort> ports,
                const BalancePolicy& policy, const RestingBuckets& resting) {
    PlacementDraft draft(now, loads, weigh(ports, policy.aware), resting);
    if (draft.ports().empty()) return {.owners = now, .moves = {}, .planned = {}};
    const bool split = policy.aware && kinds_differ(draft.ports());
    assign_owners(draft, split, policy);
    if (draft.ports().size() < 2 || draft.total() <= 0) return draft.placement();
    PortClasses classes{};
    SlotSet gathered = 0;
    if (split) {
        BulkPlacement bulk(draft, policy);
        bulk.spill();
        const auto before = draft;
        bulk.gather();
        gathered = gained_bulk(before, draft);
        classes = bulk.classes();
    }
    rebalance(draft, classes, policy, gathered);
    return draft.placement();
}

} // namespace teamo
