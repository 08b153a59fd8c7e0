// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The stages: buckets without an owner get one; bulk leaves full capable ports and moves to those with room
// (bulk.cpp); then the ports' fair shares are computed and moves towards them are searched (rebalance.cpp).
// No stage undoes the reason of an earlier one, so a second run moves nothing.
#include "balance/balancer.h"

#include "balance/stages.h"

#include <algorithm>
#include <tuple>

namespace teamo {
namespace {

/// The mean of the known capacities; 1 if none is known.
double usual_capacity(std::span<const BalancedPort> ports) {
    double sum = 0;
    std::size_t known = 0;
    for (const auto& port : ports)
        if (port.capacity > 0) {
            sum += port.capacity;
            ++known;
        }
    return known == 0 ? 1 : sum / static_cast<double>(known);
}

/// Ports with an invalid or duplicate slot are left out.
std::vector<WeighedPort> weigh(std::span<const BalancedPort> ports, bool aware) {
    const double usual = usual_capacity(ports);
    std::vector<WeighedPort> weighed;
    SlotSet seen = 0;
    for (const auto& port : ports) {
        if (!port.slot || port.slot.value > max_ports || (seen & bit(port.slot)) != 0) continue;
        seen |= bit(port.slot);
        const double capacity = port.weight > 0 ? port.weight : port.capacity > 0 ? port.capacity : usual;
        // On a fully loaded CPU the interrupt work runs in ksoftirqd, which gets half of the CPU.
        const double left_of_cpu = 1 - std::clamp(port.cpu_load, 0.0, 1.0) / 2;
        weighed.push_back({port, capacity * (aware ? left_of_cpu : 1)});
    }
    std::ranges::sort(weighed, {}, &WeighedPort::slot);
    return weighed;
}

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
            return std::tuple(to_capable && !port.segments, bytes > 0 ? draft.level(port, bytes) : 0,
                              static_cast<double>(counts[port.slot.value] + 1) / port.weight);
        };
        const auto best = std::ranges::min_element(draft.ports(), {}, cost);
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

PlacementDraft::PlacementDraft(const BucketOwners& now, const BucketLoads& loads,
                               std::vector<WeighedPort> ports, const RestingBuckets& resting)
    : loads_(&loads), ports_(std::move(ports)), resting_(resting), owners_(now) {
    for (const auto& port : ports_)
        weight_ += port.weight;
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
        total_ += bytes(bucket);
        if (const auto* owner = port(owners_[bucket])) filled_[owner->slot.value] += bytes(bucket);
        if (bytes(bucket) > 0) largest_.push_back(bucket);
    }
    std::ranges::stable_sort(largest_, std::greater<>{},
                             [this](std::size_t bucket) { return bytes(bucket); });
}

const WeighedPort* PlacementDraft::port(Slot slot) const {
    const auto found = std::ranges::find(ports_, slot, &WeighedPort::slot);
    return found == ports_.end() ? nullptr : &*found;
}

bool PlacementDraft::on_capable(std::size_t bucket) const {
    const auto* owner = port(owners_[bucket]);
    return owner != nullptr && owner->segments;
}

double PlacementDraft::fullest() const {
    const auto level_of = [this](const WeighedPort& port) { return level(port); };
    return level_of(*std::ranges::max_element(ports_, {}, level_of));
}

std::vector<std::size_t> PlacementDraft::busy(Slot slot) const {
    auto list = largest_;
    std::erase_if(list, [this, slot](std::size_t bucket) { return owners_[bucket] != slot; });
    return list;
}

double PlacementDraft::relief(const WeighedPort& from, const WeighedPort& to, double amount) const {
    const double before = std::max(level(from), level(to));
    return (before - std::max(level(from, -amount), level(to, amount))) / mean();
}

void PlacementDraft::move(std::size_t bucket, Slot to, MoveReason reason, double gain,
                          std::optional<BucketMove::Swap> swap) {
    const auto number = static_cast<std::uint8_t>(bucket);
    auto moved = std::ranges::find(moves_, number, &BucketMove::bucket);
    if (moved == moves_.end()) // the first reason counts
        moved = moves_.insert(
            moved, BucketMove{.bucket = number, .from = owners_[bucket], .to = to, .reason = reason});
    moved->to = to;
    moved->gain += gain;
    moved->swap = swap;
    if (const auto* from = port(owners_[bucket])) filled_[from->slot.value] -= bytes(bucket);
    filled_[to.value] += bytes(bucket);
    owners_[bucket] = to;
}

Placement PlacementDraft::placement() const {
    Placement result{.owners = owners_, .moves = moves_, .planned = {}};
    std::erase_if(result.moves, [](const BucketMove& move) { return move.from == move.to; });
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
        if (port(owners_[bucket]) != nullptr) result.planned[owners_[bucket].value] += bytes(bucket);
    return result;
}

void apply_weights(std::span<BalancedPort> ports) {
    if (std::ranges::none_of(ports, [](const BalancedPort& port) { return port.weight > 0; })) return;
    double unit = 0; // bytes/s; 0: not known
    for (auto& port : ports) {
        if (port.weight <= 0) port.weight = 1;
        const double own = port.capacity / port.weight;
        if (own > 0 && (unit <= 0 || own < unit)) unit = own;
    }
    for (auto& port : ports)
        port.capacity = unit * port.weight;
}

Placement place(const BucketOwners& now, const BucketLoads& loads, std::span<const BalancedPort> ports,
                const BalancePolicy& policy, const RestingBuckets& resting) {
    PlacementDraft draft(now, loads, weigh(ports, policy.aware), resting);
    if (draft.ports().empty()) return {.owners = now, .moves = {}, .planned = {}};
    const auto capable = std::ranges::count_if(draft.ports(), &WeighedPort::segments);
    const bool split = policy.aware && capable > 0 && capable < std::ssize(draft.ports());
    assign_owners(draft, split, policy);
    if (draft.ports().size() < 2 || draft.total() <= policy.idle) return draft.placement();
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
