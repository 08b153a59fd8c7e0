// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/slave_counters.h"

#include "kernel/netlink/counters.h"

#include <algorithm>

namespace teamo {
namespace {

/// Some drivers begin at 0 again, for example after a reset: what was counted before is then lost.
PortCounters since(PortCounters& baseline, const PortCounters& now) {
    const auto rise = [](std::uint64_t& before, std::uint64_t counted) {
        if (counted < before) before = 0;
        return counted - before;
    };
    return {.tx_packets = rise(baseline.tx_packets, now.tx_packets),
            .tx_bytes = rise(baseline.tx_bytes, now.tx_bytes),
            .rx_packets = rise(baseline.rx_packets, now.rx_packets),
            .rx_bytes = rise(baseline.rx_bytes, now.rx_bytes),
            .rx_dropped = rise(baseline.rx_dropped, now.rx_dropped)};
}

} // namespace

Result<SlaveCounters> SlaveCounters::open() {
    return SlaveCounters(TEAMO_TRY(NetlinkSocket::open(NETLINK_ROUTE)));
}

void SlaveCounters::begin(IfIndex port) {
    if (known_.contains(port)) return;
    if (const auto counted = read_link_stats(socket_, port)) known_[port].baseline = *counted;
}

std::array<PortCounters, max_ports + 1> SlaveCounters::read(const std::array<IfIndex, max_ports + 1>& ports) {
    // A device that returns, or another one with its index, is counted from then on.
    std::erase_if(known_,
                  [&](const auto& entry) { return std::ranges::find(ports, entry.first) == ports.end(); });
    std::array<PortCounters, max_ports + 1> counters{};
    for (std::size_t slot = 1; slot < ports.size(); ++slot) {
        if (!ports[slot]) continue;
        begin(ports[slot]);
        const auto known = known_.find(ports[slot]);
        if (known == known_.end()) continue; // it is being removed
        auto& [baseline, last] = known->second;
        if (const auto counted = read_link_stats(socket_, ports[slot])) last = since(baseline, *counted);
        counters[slot] = last;
    }
    return counters;
}

} // namespace teamo
