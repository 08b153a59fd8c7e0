// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/write_order.h"

#include <algorithm>

namespace teamo {
namespace {

/// Only what write_team() of ForwardPrograms writes.
Tables team_part(Tables tables) {
    tables.transmit = tables.receive = tables.waits = 0;
    tables.standby = {};
    tables.carrier_losses = {};
    tables.buckets = {};
    tables.leaving = {};
    tables.drain = {};
    tables.cpu_slots.clear();
    tables.settings = {}; // the team driver's, as the announcements
    tables.notify_peers = tables.mcast_rejoin = {};
    return tables;
}

} // namespace

LiveSlots live_slots(const Tables& tables) {
    return {.transmit = tables.transmit, .receive = tables.receive, .standby = tables.standby};
}

LiveSlots staying_live(const Tables& now, const Tables& next) {
    SlotSet same_device = 0;
    for (std::uint8_t slot = 1; slot <= max_ports; ++slot)
        if (now.ports[slot] == next.ports[slot]) same_device |= bit(Slot{slot});
    LiveSlots staying{.transmit = now.transmit & next.transmit & same_device,
                      .receive = now.receive & next.receive & same_device,
                      .standby = now.standby};
    // One that transmits from now on stands in until then: else no slot might be live for a moment. In
    // `receive` it keeps the others receiving beside it (forward.bpf.c: teamo_receives).
    for (auto& slot : staying.standby) {
        const bool starts = (next.transmit & bit(slot)) != 0;
        const bool stays = std::ranges::find(next.standby, slot) != next.standby.end();
        if ((same_device & bit(slot)) == 0 || !(starts || stays))
            slot = Slot{0};
        else if (starts)
            staying.receive |= next.receive & bit(slot);
    }
    // Not of std::ranges: clang 14 does not compile its result with the library of g++ 12.
    std::stable_partition(staying.standby.begin(), staying.standby.end(),
                          [](Slot slot) { return slot != Slot{0}; });
    return staying;
}

bool devices_differ(const Tables& now, const Tables& next) {
    return now.ports != next.ports || now.waits != next.waits || now.carrier_losses != next.carrier_losses;
}

std::vector<TableWrite> write_order(const Tables& now, const Tables& next) {
    const bool all = now == Tables{};
    std::vector<TableWrite> between;
    if (now.drain != next.drain || all) between.push_back(TableWrite::drains);
    if (team_part(now) != team_part(next)) between.push_back(TableWrite::team);
    const bool devices = devices_differ(now, next) || all;
    if (devices && now.ports != next.ports) between.push_back(TableWrite::devices);
    if (now.cpu_slots != next.cpu_slots || all) between.push_back(TableWrite::cpu_slots);
    if (now.buckets != next.buckets || now.leaving != next.leaving || all)
        between.push_back(TableWrite::buckets);
    const auto staying = staying_live(now, next);
    const bool stops = staying != live_slots(now);
    const bool starts = staying != live_slots(next) || all;
    // One port instead of another, and nothing else: one write does both, with no moment between.
    if (between.empty() && stops && starts)
        return devices ? std::vector{TableWrite::start, TableWrite::devices} : std::vector{TableWrite::start};
    // Counts of known devices: a slot that starts needs its count first.
    if (devices && now.ports == next.ports) between.push_back(TableWrite::devices);
    if (stops) between.insert(between.begin(), TableWrite::stop);
    if (starts) between.push_back(TableWrite::start);
    return between;
}

} // namespace teamo
