// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What was there before us, and where things stand, kept in a file under /run so that it outlives a
// killed daemon: the next one puts back what the first one found, and goes on where the last one was.
#pragma once

#include "base/mac_address.h"
#include "base/named.h"
#include "base/result.h"
#include "kernel/netlink/addresses.h"
#include "model/features.h"
#include "model/interrupts.h"
#include "model/workers.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace teamo {

/// How far a port has got, and so what a later daemon has to do with it. An entry is written before its
/// device is touched, the mark (model/marks.h) is the first thing that a device gets and the last that it
/// loses: an entry counts only for a device that has the mark.
enum class PortState : std::uint8_t {
    joining, ///< on its way in: to be finished
    joined,
    leaving, ///< on its way out: to be finished
    away,    ///< joined, and its device is not here any more; it may come back
};

constexpr const char* name_of(PortState state) {
    constexpr std::array names{"joining", "joined", "leaving", "away"};
    return names[static_cast<std::size_t>(state)];
}

/// A port as it was before it joined.
struct PortBefore {
    IfIndex index; ///< none: it is away
    Slot slot;     ///< the place it has in the team
    PortState state = PortState::joining;
    bool taken_down = false; ///< for a moment, to change its address; to be set up again
    std::string name;
    MacAddress address{};
    std::uint32_t mtu = 0;
    std::uint32_t flags = 0;                     ///< IFF_*; of these UP, PROMISC and ALLMULTI are put back
    std::optional<bool> disable_ipv6{};          ///< none: the kernel has no IPv6
    bool made_clsact = false;                    ///< the qdisc is ours to take away
    FeatureSettings features{};                  ///< those that were changed for the team, as they were
    FeatureNames offloads{};                     ///< that were on when it joined
    SetCpus cpus{};                              ///< what of its interrupts was set, and is not as it was
    std::vector<DeviceAddress> ipv6_addresses{}; ///< static ones that disable_ipv6 takes; oldest first
    bool operator==(const PortBefore&) const = default;
};

struct Journal {
    std::uint64_t network_namespace = 0; ///< inode of the namespace; ifindexes mean nothing in another
    bool making = false;                 ///< the team's device is being made: one without a mark is ours
    IfIndex team, inner;
    std::optional<IfIndex> active;            ///< activebackup's port
    std::array<Slot, bucket_count> owners{};  ///< where the hash buckets live
    FeatureNames offloads{};                  ///< of the team's device, as it was made
    std::vector<PortBefore> ports;            ///< in the order they joined
    std::vector<std::string> removed_by_hand; ///< configured ports that somebody took out
    BoundWorkers workers{};                   ///< processes that do not run where they did before
    bool operator==(const Journal&) const = default;
};

inline constexpr std::string_view journal_directory = "/run/teamd-offload";

/// None where there is no journal of that team for this network namespace. EBADMSG: it makes no sense.
Result<std::optional<Journal>> read_journal(std::string_view team);
Result<> write_journal(std::string_view team, const Journal& journal);
void remove_journal(std::string_view team);
/// One that makes no sense is kept for who wants to look at it; where.
Result<std::string> set_journal_aside(std::string_view team);

// Text and value, pure.
std::string text_of(const Journal& journal);
Result<Journal> parse_journal(std::string_view text);

} // namespace teamo
