// SPDX-License-Identifier: LGPL-2.1-or-later
#include "balance/placement_draft.h"

#include <algorithm>

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

/// On a fully loaded CPU the interrupt work runs in ksoftirqd, which gets half of the CPU.
double left_of_cpu(double cpu_load) { return 1 - std::clamp(cpu_load, 0.0, 1.0) / 2; }

} // namespace

std::vector<WeighedPort> weigh(std::span<const BalancedPort> ports, bool aware) {
    const double usual = usual_capacity(ports);
    std::vector<WeighedPort> weighed;
    SlotSet seen = 0;
    for (const auto& port : ports) {
        if (!port.slot || port.slot.value > max_ports || (seen & bit(port.slot)) != 0) continue;
        seen |= bit(port.slot);
        const double capacity = port.capacity > 0 ? port.capacity : usual;
        weighed.push_back({.slot = port.slot,
                           .weight = capacity * (aware ? left_of_cpu(port.cpu_load) : 1),
                           .capacity = port.capacity,
                           .segments = port.segments});
    }
    std::ranges::sort(weighed, {}, &WeighedPort::slot);
    return weighed;
}

PlacementDraft::PlacementDraft(const BucketOwners& now, const BucketLoads& loads,
                               std::vector<WeighedPort> ports, const RestingBuckets& resting)
    : loads_(&loads), ports_(std::move(ports)), resting_(resting), was_(now), owners_(now) {
    index_.fill(-1);
    for (std::size_t at = 0; at < ports_.size(); ++at) {
        index_[ports_[at].slot.value] = static_cast<std::int8_t>(at);
        weight_ += ports_[at].weight;
    }
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
        total_ += bytes(bucket);
        if (const auto* owner = port(owners_[bucket])) filled_[owner->slot.value] += bytes(bucket);
        if (bytes(bucket) > 0) largest_.push_back(bucket);
    }
    std::ranges::stable_sort(largest_, std::greater<>{},
                             [this](std::size_t bucket) { return bytes(bucket); });
}

const WeighedPort* PlacementDraft::port(Slot slot) const {
    const int at = slot.value <= max_ports ? index_[slot.value] : -1;
    return at < 0 ? nullptr : &ports_[static_cast<std::size_t>(at)];
}

bool PlacementDraft::on_capable(std::size_t bucket) const {
    const auto* owner = port(owners_[bucket]);
    return owner != nullptr && owner->segments;
}

double PlacementDraft::fullest() const {
    double most = 0;
    for (const auto& port : ports_)
        most = std::max(most, level(port));
    return most;
}

std::vector<std::size_t> PlacementDraft::busy(Slot slot) const {
    std::vector<std::size_t> list;
    for (const auto bucket : largest_)
        if (owners_[bucket] == slot) list.push_back(bucket);
    return list;
}

double PlacementDraft::relief(const WeighedPort& from, const WeighedPort& to, double amount) const {
    const double before = std::max(level(from), level(to));
    return (before - std::max(level(from, -amount), level(to, amount))) / mean();
}

void PlacementDraft::move(std::size_t bucket, Slot to, MoveReason reason, double gain) {
    auto& moved = moved_[bucket];
    const auto number = static_cast<std::uint8_t>(bucket);
    if (std::ranges::find(order_, number) == order_.end()) {
        order_.push_back(number);
        moved.reason = reason; // the first reason counts
    }
    moved.gain += gain;
    if (const auto* from = port(owners_[bucket])) filled_[from->slot.value] -= bytes(bucket);
    filled_[to.value] += bytes(bucket);
    owners_[bucket] = to;
}

Placement PlacementDraft::placement() const {
    Placement result{.owners = owners_, .moves = {}, .planned = {}};
    for (const auto bucket : order_)
        if (owners_[bucket] != was_[bucket])
            result.moves.push_back({.bucket = bucket,
                                    .from = was_[bucket],
                                    .to = owners_[bucket],
                                    .gain = moved_[bucket].gain,
                                    .reason = moved_[bucket].reason});
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
        if (port(owners_[bucket]) != nullptr) result.planned[owners_[bucket].value] += bytes(bucket);
    return result;
}

} // namespace teamo
