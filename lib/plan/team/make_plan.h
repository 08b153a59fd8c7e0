// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Makes the plan of a team from configuration, observation and decision, and compares it with the present
// devices. The plan has everything that the team needs, also what is set already.
#pragma once

#include "balance/buckets.h"
#include "model/observation.h"
#include "model/offload.h"
#include "model/tables.h"
#include "runner/runner.h"

#include <set>
#include <variant>
#include <vector>

namespace teamo {

/// A port, as input of the plan.
struct Member {
    IfIndex index;
    Slot slot;
    MacAddress own_address;    ///< before it joined
    bool filters_tags = false; ///< its VLAN filter drops unknown tags and cannot be switched off
    PortSettings settings{};
    SegmentLimits gso_max{};          ///< of its device
    bool segments = true;             ///< its TSO is on
    bool to_set_up = false;           ///< we set it down and must set it up again
    std::uint32_t weight = 1;         ///< its share of the buckets beside those of the others
    bool drained = false;             ///< no bucket is its own, unless all are so
    bool waits = false;               ///< its watches delay a link that returns
    std::uint32_t carrier_losses = 0; ///< of its device
};

struct PlanInput {
    const RunnerConfig* runner = nullptr;
    const Link* team = nullptr;  ///< the administrator sets its MTU, address and promiscuity
    std::vector<Member> members; ///< in the order they joined
    BucketOwners owners{};       ///< the present owners
    SlotSet known = 0;           ///< the members for which `owners` was made
    bool measured = false;       ///< `owners` follows measured loads
    Tables tables{}; ///< the plan takes inner, leaving, drain, cpu_slots, notify_peers and mcast_rejoin
    SegmentLimits limited_to{}; ///< the team's limits as an earlier plan set them; zeros: not set
    /// The kernel manages the ports' MTU and filters and the team's carrier.
    bool kernel_manages_ports = false;
    bool is_guest = false;       ///< the device and its ports belong to another program
    std::uint16_t min_ports = 1; ///< with fewer that can carry the team has no carrier
    /// The team's carrier must be set: the driver has left it to us since the first time.
    bool sets_carrier = false;
    std::optional<bool> carrier_set{}; ///< as it was set last
    bool tags = false;                 ///< a device on the team receives frames with VLAN tags
    bool other_addresses = false;      ///< the team's unicast list has other addresses than its own
};

/// The planned state of a port's device.
struct PortPlan {
    IfIndex index;
    Slot slot;
    MacAddress address;
    std::uint32_t mtu = 1500; ///< bytes, without the Ethernet header
    bool promiscuous = false; ///< the team needs frames that the port would drop
    bool to_set_up = false;   ///< otherwise the administrator decides whether it is up
};

struct TeamPlan {
    MacAddress address;                ///< of the team
    bool carrier = false;              ///< of the team
    bool kernel_manages_ports = false; ///< the kernel sets MTU and filters of the ports
    bool is_guest = false;             ///< no device is changed
    bool sets_carrier = false;         ///< by IFLA_CARRIER
    std::optional<bool> carrier_set{}; ///< as it was set last
    /// Of the team: the smallest limits of its ports with TSO. Kernels before 6.19 do not set them
    /// (net/core/dev.c, netdev_compute_master_upper_features). A port without TSO, which leaves segmentation
    /// to software anyway, does not limit the others.
    SegmentLimits gso_max;
    BucketOwners owners{};
    SlotSet drained = 0; ///< own no bucket, because they are drained; 0 if all are
    Tables tables;
    std::vector<PortPlan> ports;
};

TeamPlan make_plan(const PlanInput& input, const Decision& decision);

// ---- changes -----------------------------------------------------------------------------------

template <class Value>
struct SetValue {
    IfIndex device;
    Value to;
    bool operator==(const SetValue&) const = default;
};
using SetAddress = SetValue<MacAddress>;
using SetMtu = SetValue<std::uint32_t>;
using SetSegmentLimits = SetValue<SegmentLimits>;
using SetCarrier = SetValue<bool>;
/// Sets the IFF_* bits in `mask` to those of `flags`.
struct SetFlags {
    IfIndex device;
    std::uint32_t flags, mask;
    bool operator==(const SetFlags&) const = default;
};
struct DisableIpv6 {
    IfIndex device;
    bool operator==(const DisableIpv6&) const = default;
};
using Change = std::variant<SetMtu, SetFlags, SetAddress, SetSegmentLimits, SetCarrier, DisableIpv6>;

/// "MTU 1500", for messages.
std::string text_of(const Change& change);

/// The changes that turn the present devices into the planned ones, in the order to apply them: a port's MTU
/// and filters before its address, ports before the team, so that no port gets packets that it cannot handle
/// yet; the team's carrier last.
std::vector<Change> changes(const Links& links, const TeamPlan& plan);

// ---- what the ports must receive ---------------------------------------------------------------
//
// The kernel's team driver passes the team's addresses and VLANs to its ports (team_core.c: team_set_rx_mode,
// team_vlan_rx_add_vid); the BPF datapath uses what user space can set.

/// Whether a device on the team receives frames with VLAN tags: a VLAN device at any level, or a master such
/// as a bridge, whose ports may use any tag. `above`: all devices above the team.
bool takes_tags(const Links& links, const Link& team, const std::set<IfIndex>& above);

/// Whether the team's list has another address than the team's own.
bool takes_other_addresses(const std::vector<MacAddress>& unicast_list, const Link& team);

/// Active features that the driver can switch and that must be off while the device is a port: VLAN filters.
/// They drop tags that are not in the card's list, and no program fills that list.
FeatureSettings unwanted(const Features& features);

/// Whether the card drops frames with tags that are not in its list.
bool filters_tags(const Features& features);

} // namespace teamo
