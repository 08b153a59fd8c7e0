// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the guard drops, and what it has to know for that (docs/adr/0029).
#pragma once

#include "base/ip_address.h"
#include "base/mac_address.h"
#include "model/config.h"

#include <cstdint>
#include <set>
#include <string>

namespace teamo {

/// Addresses are those of the team and of everything on it.
struct GuardTables {
    GuardMode mode = GuardMode::off; ///< off: passes everything
    std::set<IpAddress> addresses{};
    std::set<MacAddress> macs{};      ///< also of multicast groups with a listener
    std::set<std::uint16_t> vlans{};  ///< with a device here; frames of the others pass
    std::uint32_t rate = 0;           ///< broadcasts per second, and multicasts; 0: no limit
    std::uint32_t rate_by_sender = 0; ///< both together, of one source MAC address; 0: no limit
    bool operator==(const GuardTables&) const = default;
};

/// Dropped frames by reason, since the daemon started.
struct GuardDrops {
    std::uint64_t arp_requests = 0, neighbour_solicitations = 0; ///< for addresses of other hosts
    std::uint64_t unicast = 0;                                   ///< to MAC addresses of other hosts
    std::uint64_t broadcasts = 0, multicasts = 0;                ///< above the rate of all senders
    std::uint64_t of_a_sender = 0;                               ///< above the rate of one sender
    bool operator==(const GuardDrops&) const = default;
};

struct GuardStatus {
    GuardMode mode = GuardMode::off; ///< as configured
    std::string aside;               ///< why it passes everything nevertheless; empty: it does not
    std::uint64_t passed = 0;        ///< frames that it has seen and not dropped
    GuardDrops dropped{};
    bool operator==(const GuardStatus&) const = default;
};

} // namespace teamo
