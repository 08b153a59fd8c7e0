// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The state of the devices before the team changed them, and the progress of each change. Kept in a file
// under /run so that it survives a killed daemon: the next one can restore the devices, and continues where
// the last one was.
#pragma once

#include "base/mac_address.h"
#include "base/named.h"
#include "base/result.h"
#include "kernel/netlink/addresses.h"
#include "model/damping.h"
#include "model/drain.h"
#include "model/interrupts.h"
#include "model/lacp.h"
#include "model/observation.h"
#include "model/offload.h"
#include "model/workers.h"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace teamo {

/// The progress of a port, which decides what a later daemon does with it. An entry is written before its
/// device is changed. The mark (model/observation.h) is set first and removed last, so an entry is valid only
/// for a device that has the mark.
enum class PortState : std::uint8_t {
    joining, ///< the join must be completed
    joined,
    leaving, ///< the removal must be completed
    away,    ///< joined, but its device has gone; it may come back
};

template <>
inline constexpr std::array<std::string_view, 4> enum_names<PortState>{"joining", "joined", "leaving",
                                                                       "away"};

/// A port as it was before it joined.
struct PortBefore {
    IfIndex index; ///< none: the state is `away`
    Slot slot;     ///< its slot in the team
    PortState state = PortState::joining;
    bool taken_down = false; ///< to change its address, or by a move between namespaces; must be set up again
    std::string name;
    MacAddress address{};
    std::uint32_t mtu = 0;                       ///< 0: not known; the driver restores it
    std::uint32_t flags = 0;                     ///< IFF_*; UP, PROMISC and ALLMULTI are restored
    std::optional<bool> disable_ipv6{};          ///< none: the kernel has no IPv6
    bool made_clsact = false;                    ///< we created the qdisc and must remove it
    FeatureSettings features{};                  ///< earlier values of the features that the team changed
    FeatureSettings trial{};                     ///< those that a measurement switches now, as they were
    FeatureNames offloads{};                     ///< the features that were on when it joined
    SetCpus cpus{};                              ///< CPU settings that differ from the original
    std::vector<DeviceAddress> ipv6_addresses{}; ///< static ones that disable_ipv6 removes; oldest first
    /// Of a port whose watches delay a returning link: PortWatch::carrier_losses().
    std::optional<std::uint32_t> carrier_losses{};
    bool unanswered = false; ///< its link watches were down although it had a link
    bool enslaved = false;   ///< was a port of the kernel's team or bond, which restores address and MTU
    std::optional<DampingMemory> damping{};
    std::uint32_t weight = 1; ///< with which it has its buckets
    PortDrain drain{};
    lacp::PortMemory lacp{}; ///< a partner without an identity: there is none
    bool operator==(const PortBefore&) const = default;
};

struct Journal {
    std::uint64_t network_namespace = 0; ///< its inode; ifindexes are valid only in this namespace
    bool making = false;                 ///< the team's device is being created: one without a mark is ours
    bool attached = false;               ///< the device is a bond of others
    IfIndex team, inner;
    std::optional<IfIndex> active;           ///< activebackup's port
    bool active_by_hand = false;             ///< made active by command
    std::array<Slot, bucket_count> owners{}; ///< by bucket
    /// By bucket: the slot by which it leaves while it waits for a gap. Written as its owner, and not read:
    /// the next daemon decides anew, and a move by hand is forgotten.
    std::array<Slot, bucket_count> leaving{};
    FeatureNames offloads{};                  ///< of the team's device when it was created
    std::vector<PortBefore> ports;            ///< in the order they joined
    std::vector<std::string> configured;      ///< ports of the configuration, which a later one may not have
    std::vector<std::string> removed_by_hand; ///< configured ports that the user removed
    std::optional<MacAddress> hwaddr{};       ///< the configured one that the team was given last
    bool sets_carrier = false;                ///< we have set that of the team's device, and must go on
    std::optional<MacAddress> lacp_system{};  ///< that identifies the team to its partners
    std::optional<BondPolicy> bond_policy{};  ///< of a bond of others, as it was before it was steered
    BoundWorkers workers{};                   ///< processes and units that we have bound
    bool operator==(const Journal&) const = default;
};

/// In bytes; a bound thread takes about 200.
inline constexpr std::size_t longest_journal = std::size_t{64} << 20;
inline constexpr std::string_view journal_directory = "/run/teamd-offload";

/// None if the team has no journal for this network namespace. EBADMSG: it is malformed, also in one entry.
/// `later`: as json::read_versioned() has it.
Result<std::optional<Journal>> read_journal(std::string_view team, std::string* later = nullptr);
Result<> write_journal(std::string_view team, const Journal& journal);
/// Gives a team the journal of another one.
Result<> rename_journal(std::string_view from, std::string_view to);
/// The bonds of others to which daemons of this network namespace are, or were, attached, by their names
/// then; without those that `skip` tells. Journals that cannot be read are left out.
std::map<std::string, IfIndex> read_attached(const std::function<bool(std::string_view team)>& skip);
void remove_journal(std::string_view team);
/// What the other teams of this machine have bound, by team, also those of other network namespaces and those
/// whose daemon is away. `is_there`: whether a device of this network namespace exists; a team without its
/// device has ended. Journals that cannot be read count as empty.
std::map<std::string, BoundWorkers> read_workers_of_others(std::string_view team,
                                                           const std::function<bool(IfIndex)>& is_there);
/// Renames a malformed journal so that it is kept for inspection. Returns the new path.
Result<std::string> set_journal_aside(std::string_view team);

// The file's content. Pure.
std::string text_of(const Journal& journal);
Result<Journal> parse_journal(std::string_view text, std::string* later = nullptr);

} // namespace teamo
