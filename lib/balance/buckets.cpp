// SPDX-License-Identifier: LGPL-2.1-or-later
#include "balance/buckets.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace teamo {
namespace {

std::vector<Slot> members(SlotSet slots) {
    std::vector<Slot> list;
    for (std::uint8_t number = 1; number <= max_ports; ++number)
        if ((slots & bit(Slot{number})) != 0) list.push_back(Slot{number});
    return list;
}

using Counts = std::array<std::size_t, max_ports + 1>;

Counts count(const BucketOwners& owners) {
    Counts counts{};
    for (const auto owner : owners)
        ++counts[owner.value];
    return counts;
}

/// The number of buckets for each slot: its share, rounded down, and one more for those that lack most to
/// their share, of equal ones for those with the most buckets now.
Counts fair_shares(std::vector<Slot> slots, const Counts& now, const Weights& weights) {
    std::uint64_t total = 0;
    for (const auto slot : slots)
        total += weights[slot.value];
    if (total == 0) return {}; // there is no slot
    Counts shares{}, lacks{};
    std::size_t spare = bucket_count;
    for (const auto slot : slots) {
        const auto share = std::uint64_t{bucket_count} * weights[slot.value];
        shares[slot.value] = static_cast<std::size_t>(share / total);
        lacks[slot.value] = static_cast<std::size_t>(share % total);
        spare -= shares[slot.value];
    }
    std::ranges::stable_sort(slots, std::greater<>{},
                             [&](Slot slot) { return std::pair(lacks[slot.value], now[slot.value]); });
    for (std::size_t rank = 0; rank < spare; ++rank)
        ++shares[slots[rank].value];
    for (const auto slot : slots)
        if (shares[slot.value] == 0) {
            --*std::ranges::max_element(shares);
            shares[slot.value] = 1;
        }
    return shares;
}

/// Roberts' sequence for six dimensions (x^7 = x + 1): the points that it makes of 0, 1, 2 … are spread
/// evenly in all of them, so that the places of a bucket do not depend on one another.
double spread(std::size_t number, std::size_t dimension) {
    constexpr auto steps = [] {
        std::array<double, max_ports> list{};
        double step = 1;
        for (auto& each : list) {
            each = step;
            step /= 1.1127756842787055;
        }
        return list;
    }();
    double whole = 0;
    return std::modf(0.5 + static_cast<double>(number) * steps[dimension], &whole);
}

/// `share`: of the sum of the weights, 0 to 1.
std::size_t choice_by(const std::vector<Slot>& slots, const Weights& weights, double share) {
    double left = 0;
    for (const auto slot : slots)
        left += share * weights[slot.value];
    std::size_t choice = 0;
    while (choice + 1 < slots.size() && left >= weights[slots[choice].value])
        left -= weights[slots[choice++].value];
    return choice;
}

class SlotAssignment {
public:
    SlotAssignment(std::span<const ServedPort> ports, const CpuList& online)
        : ports_(ports.begin(), ports.end()), slots_(online.empty() ? 0 : online.back() + 1) {
        std::ranges::sort(ports_, {}, &ServedPort::slot);
        for (auto& port : ports_)
            std::ranges::sort(port.interrupt_cpus);
        for (const auto cpu : online)
            (servers_of(cpu).empty() ? free_ : serving_).push_back(cpu);
    }

    std::vector<Slot> result() {
        if (ports_.empty()) return slots_;
        // CPUs with the fewest ports first; the others can then go to the ports with few CPUs.
        std::ranges::stable_sort(serving_, {}, [this](unsigned cpu) { return servers_of(cpu).size(); });
        for (const auto cpu : serving_)
            give(cpu, with_fewest(servers_of(cpu), has_));
        distribute();
        return slots_;
    }

private:
    std::vector<Slot> servers_of(unsigned cpu) const {
        std::vector<Slot> slots;
        for (const auto& port : ports_)
            if (contains(port.interrupt_cpus, cpu)) slots.push_back(port.slot);
        return slots;
    }

    static Slot with_fewest(const std::vector<Slot>& slots, const Counts& counts) {
        return *std::ranges::min_element(slots, {}, [&](Slot slot) { return counts[slot.value]; });
    }

    void give(unsigned cpu, Slot slot) {
        slots_[cpu] = slot;
        ++has_[slot.value];
    }

    void distribute() {
        std::vector<Slot> all;
        for (const auto& port : ports_)
            all.push_back(port.slot);
        auto end = has_; // the final number for each port
        for (std::size_t left = free_.size(); left > 0; --left)
            ++end[with_fewest(all, end).value];
        const auto full = [&](Slot slot) { return has_[slot.value] == end[slot.value]; };

        std::vector<std::tuple<unsigned, unsigned, Slot>> pairs; // distance, CPU, port
        for (const auto cpu : free_)
            for (const auto& port : ports_)
                for (const auto own : port.interrupt_cpus)
                    pairs.emplace_back(own > cpu ? own - cpu : cpu - own, cpu, port.slot);
        std::ranges::sort(pairs);
        for (const auto& [distance, cpu, slot] : pairs)
            if (!slots_[cpu] && !full(slot)) give(cpu, slot);
        // The rest: CPUs without a pair, to the ports with the fewest.
        for (const auto cpu : free_) {
            if (slots_[cpu]) continue;
            std::erase_if(all, full);
            give(cpu, with_fewest(all, has_));
        }
    }

    std::vector<ServedPort> ports_;
    std::vector<Slot> slots_;
    CpuList serving_, free_;
    Counts has_{};
};

} // namespace

BucketOwners assign_evenly(const BucketOwners& now, SlotSet slots, const Weights& weights) {
    const auto list = members(slots);
    if (list.empty()) return BucketOwners{};

    const auto shares = fair_shares(list, count(now), weights);
    Counts kept{};
    BucketOwners next{};
    // A slot above its share gives up its last buckets, so that it keeps one range.
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
        const auto owner = now[bucket].value;
        if (shares[owner] > kept[owner] && owner != 0) {
            next[bucket] = now[bucket];
            ++kept[owner];
        }
    }
    const bool from_nothing = std::ranges::all_of(now, [](Slot owner) { return owner == Slot{0}; });
    auto slot = list.begin();
    for (auto& owner : next) {
        if (owner != Slot{0}) continue;
        while (kept[slot->value] >= shares[slot->value])
            if (++slot == list.end()) slot = list.begin();
        owner = *slot;
        ++kept[slot->value];
        // One range for each slot at first; later the free buckets go to the slots in turn.
        if (!from_nothing && ++slot == list.end()) slot = list.begin();
    }
    return next;
}

BucketOwners settle(const BucketOwners& now, SlotSet known, SlotSet slots, bool measured,
                    const Weights& weights) {
    const bool has_new_slot = (slots & ~known) != 0;
    const auto unowned = [slots](Slot owner) { return (slots & bit(owner)) == 0; };
    if (!has_new_slot && std::ranges::none_of(now, unowned)) return now;
    const auto list = members(slots);
    if (has_new_slot || !measured || list.empty()) return assign_evenly(now, slots, weights);
    BucketOwners next = now;
    auto slot = list.begin();
    for (auto& owner : next) {
        if (!unowned(owner)) continue;
        owner = *slot;
        if (++slot == list.end()) slot = list.begin();
    }
    return next;
}

Buckets preferences(const BucketOwners& owners, SlotSet slots, const Weights& weights, SlotSet last) {
    const auto list = members(slots), after = members(last);
    Buckets buckets{};
    const bool by_weight = std::ranges::any_of(
        list, [&](Slot slot) { return weights[slot.value] != weights[list.front().value]; });
    Counts seen{};
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
        const auto owner = owners[bucket];
        if (owner == Slot{0}) continue;
        auto others = list;
        std::erase(others, owner);
        // The k-th bucket of an owner takes the others in turn for second place, which is exactly even. The
        // further places depend on those before, so that different ports do not fall back to the same third
        // one: whichever ports are down, the fullest of the rest has at most 1.11 times its share.
        const auto number = seen[owner.value]++;
        auto turn = number;
        std::size_t place = 0;
        buckets[bucket][place++] = owner;
        while (!others.empty()) {
            const auto choices = others.size();
            const auto chosen =
                by_weight ? choice_by(others, weights, spread(number, place)) : turn % choices;
            const auto choice = others.begin() + static_cast<std::ptrdiff_t>(chosen);
            buckets[bucket][place] = *choice;
            turn = turn / choices + owner.value + std::size_t{3} * choice->value + place;
            others.erase(choice);
            ++place;
        }
        std::ranges::copy(after, buckets[bucket].begin() + static_cast<std::ptrdiff_t>(place));
    }
    return buckets;
}

std::vector<Slot> cpu_slots(std::span<const ServedPort> ports, const CpuList& online) {
    return SlotAssignment(ports, online).result();
}

CpuList cpus_of(const std::vector<Slot>& cpu_slots, Slot slot) {
    CpuList cpus;
    for (unsigned cpu = 0; cpu < cpu_slots.size(); ++cpu)
        if (cpu_slots[cpu] == slot) cpus.push_back(cpu);
    return cpus;
}

} // namespace teamo
