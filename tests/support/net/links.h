// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Reads devices from the kernel, without the daemon's code: a test that waits reads them hundreds of times,
// and in an emulated guest each ip(8) costs 40 ms.
#pragma once

#include "support/net/net_ns.h"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace teamo::test {

/// One device by RTM_GETLINK, in the words of ip(8).
struct Device {
    unsigned index = 0;
    std::string name, address, operstate, master, kind, alias;
    std::set<std::string> flags; ///< "UP", "LOWER_UP", "PROMISC", "ALLMULTI", "NOARP"
    std::vector<std::string> altnames;
    unsigned mtu = 0, promiscuity = 0;

    bool up() const { return flags.contains("UP"); }
    bool carrier() const { return flags.contains("LOWER_UP"); }
};

/// Throws SetupError if there is no such device.
Device look(const NetNs& in, std::string_view name);
bool exists(const NetNs& in, std::string_view name);

/// Kernels before 6.2 rename only a device that is down: there it goes down for a moment.
void rename(const NetNs& in, const std::string& from, const std::string& to);

/// Waits until a device with a carrier is operational; throws SetupError otherwise. Until linkwatch has
/// activated it (net/core/link_watch.c: dev_activate), it silently drops packets, also as a port of a bridge.
void await_operation(const NetNs& in, std::string_view name);

struct Counters {
    std::uint64_t rx_bytes = 0, rx_packets = 0, rx_dropped = 0, tx_bytes = 0, tx_packets = 0, tx_dropped = 0;
};
/// The difference of two readings.
Counters operator-(const Counters& later, const Counters& earlier);

/// The device's own counters: a GSO packet counts once.
Counters counters(const NetNs& in, std::string_view name);

/// All settings of a device that must be restored: the output of `ip -d link`, `tc qdisc`, `tc filter`, and
/// its sysctls, one setting per line.
std::string snapshot(const NetNs& in, std::string_view name);

/// The lines that only one of two texts has: "-" for the earlier, "+" for the later. Empty if they are equal.
std::string difference(const std::string& earlier, const std::string& later);

} // namespace teamo::test
