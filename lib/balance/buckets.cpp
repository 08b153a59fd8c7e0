// SPDX-License-Identifier: LGPL-2.1-or-later
#include "balance/buckets.h"

#include <algorithm>
#include <vector>

namespace teamo {
namespace {

std::vector<Slot> members(SlotSet slots) {
    std::vector<Slot> list;
    for (std::uint8_t number = 1; number <= max_ports; ++number)
        if ((slots & bit(Slot{number})) != 0) list.push_back(Slot{number});
    return list;
}

using Counts = std::array<std::size_t, max_ports + 1>;

Counts count(const BucketOwners& homes) {
    Counts counts{};
    for (const auto home : homes)
        ++counts[home.value];
    return counts;
}

/// How many buckets each slot shall have: 256 / n, and one more for those that have most already.
Counts fair_shares(std::vector<Slot> slots, const Counts& now) {
    std::ranges::stable_sort(slots, std::greater<>{}, [&now](Slot slot) { return now[slot.value]; });
    Counts shares{};
    const auto spare = bucket_count % slots.size();
    for (std::size_t rank = 0; rank < slots.size(); ++rank)
        shares[slots[rank].value] = bucket_count / slots.size() + (rank < spare ? 1 : 0);
    return shares;
}

} // namespace

BucketOwners rehome(const BucketOwners& now, SlotSet slots) {
    const auto list = members(slots);
    if (list.empty()) return BucketOwners{};

    const auto shares = fair_shares(list, count(now));
    Counts kept{};
    BucketOwners next{};
    // A slot above its share gives from its end, so that what it keeps stays one range.
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
        const auto home = now[bucket].value;
        if (shares[home] > kept[home] && home != 0) {
            next[bucket] = now[bucket];
            ++kept[home];
        }
    }
    const bool from_nothing = std::ranges::all_of(now, [](Slot home) { return home == Slot{0}; });
    auto taker = list.begin();
    for (auto& home : next) {
        if (home != Slot{0}) continue;
        while (kept[taker->value] >= shares[taker->value])
            if (++taker == list.end()) taker = list.begin();
        home = *taker;
        ++kept[taker->value];
        // One range each at first; what a leaving port leaves behind is dealt out in turn.
        if (!from_nothing && ++taker == list.end()) taker = list.begin();
    }
    return next;
}

BucketOwners settle(const BucketOwners& now, SlotSet known, SlotSet slots, bool measured) {
    const bool someone_came = (slots & ~known) != 0;
    const auto homeless = [slots](Slot home) { return (slots & bit(home)) == 0; };
    if (!someone_came && std::ranges::none_of(now, homeless)) return now;
    const auto list = members(slots);
    if (someone_came || !measured || list.empty()) return rehome(now, slots);
    BucketOwners next = now;
    auto taker = list.begin();
    for (auto& home : next) {
        if (!homeless(home)) continue;
        home = *taker;
        if (++taker == list.end()) taker = list.begin();
    }
    return next;
}

Buckets preferences(const BucketOwners& homes, SlotSet slots) {
    const auto list = members(slots);
    Buckets buckets{};
    Counts seen{};
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
        const auto home = homes[bucket];
        if (home == Slot{0}) continue;
        auto others = list;
        std::erase(others, home);
        // The k-th bucket of its home takes the others in turn for its second place, exactly evenly. What
        // follows turns with what was chosen, so that no two ports hand on to the same third: whichever
        // ports are down, the fullest of the rest has at most 1.11 times its share (tests/unit/runner).
        auto turn = seen[home.value]++;
        std::size_t place = 0;
        buckets[bucket][place++] = home;
        while (!others.empty()) {
            const auto choices = others.size();
            const auto choice = others.begin() + static_cast<std::ptrdiff_t>(turn % choices);
            buckets[bucket][place] = *choice;
            turn = turn / choices + home.value + std::size_t{3} * choice->value + place;
            others.erase(choice);
            ++place;
        }
    }
    return buckets;
}

} // namespace teamo
