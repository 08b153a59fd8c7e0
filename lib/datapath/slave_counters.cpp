// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/slave_counters.h"

#include "kernel/netlink/counters.h"

namespace teamo {
namespace {

PortCounters operator-(const PortCounters& now, const PortCounters& before) {
    return {.tx_packets = now.tx_packets - before.tx_packets,
            .tx_bytes = now.tx_bytes - before.tx_bytes,
            .rx_packets = now.rx_packets - before.rx_packets,
            .rx_bytes = now.rx_bytes - before.rx_bytes,
            .rx_dropped = now.rx_dropped - before.rx_dropped};
}

} // namespace

Result<SlaveCounters> SlaveCounters::open() {
    return SlaveCounters(TEAMO_TRY(NetlinkSocket::open(NETLINK_ROUTE)));
}

void SlaveCounters::begin(IfIndex port) {
    if (const auto counted = read_link_stats(socket_, port)) baselines_[port] = *counted;
}

std::array<PortCounters, max_ports + 1> SlaveCounters::read(const std::array<IfIndex, max_ports + 1>& ports) {
    std::array<PortCounters, max_ports + 1> counters{};
    for (std::size_t slot = 1; slot < ports.size(); ++slot) {
        if (!ports[slot]) continue;
        const auto counted = read_link_stats(socket_, ports[slot]);
        if (!counted) continue; // it is being removed
        counters[slot] = *counted - baselines_[ports[slot]];
    }
    return counters;
}

} // namespace teamo
