// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Devices as ip(8) and the kernel show them, read by others' tools and not by the daemon's own code.
#pragma once

#include "support/net/net_ns.h"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace teamo::test {

/// One device by `ip -j -d link show`.
struct Device {
    unsigned index = 0;
    std::string name, address, operstate, master, kind, alias;
    std::set<std::string> flags; ///< "UP", "LOWER_UP", "PROMISC", …
    std::vector<std::string> altnames;
    unsigned mtu = 0, promiscuity = 0;

    bool up() const { return flags.contains("UP"); }
    bool carrier() const { return flags.contains("LOWER_UP"); }
};

/// Throws SetupError where there is no such device.
Device look(const NetNs& in, std::string_view name);
bool exists(const NetNs& in, std::string_view name);

/// Waits until a device that has its carrier, or is about to get it, is in operation; throws SetupError where
/// it does not become so. Before linkwatch has seen to it (net/core/link_watch.c: dev_activate), it sends
/// nothing, and as a bridge's port forwards nothing: what is sent is lost without a word.
void await_operation(const NetNs& in, std::string_view name);

struct Counters {
    std::uint64_t rx_bytes = 0, rx_packets = 0, rx_dropped = 0, tx_bytes = 0, tx_packets = 0, tx_dropped = 0;
};
/// A difference of two readings.
Counters operator-(const Counters& later, const Counters& earlier);

/// As the device itself counts: a GSO packet once.
Counters counters(const NetNs& in, std::string_view name);

/// Everything about a device that somebody else may have set and that must come back as it was: what
/// `ip -d link`, `tc qdisc`, `tc filter` and its sysctls show, one setting a line.
std::string snapshot(const NetNs& in, std::string_view name);

/// The lines that only one of two texts has: "-" for the earlier one's, "+" for the later one's. Empty where
/// they are the same.
std::string difference(const std::string& earlier, const std::string& later);

} // namespace teamo::test
