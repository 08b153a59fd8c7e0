// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Makes the plan of a team from configuration, observation and decision. A pure function: the plan has
// everything that the team needs, also what is set already.
#pragma once

#include "balance/buckets.h"
#include "model/observation.h"
#include "model/tables.h"
#include "runner/runner.h"

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
    bool waits = false;               ///< its watches delay a link that returns
    std::uint32_t carrier_losses = 0; ///< of its device
    bool operator==(const Member&) const = default;
};

struct PlanInput {
    const RunnerConfig* runner = nullptr;
    const Link* team = nullptr; ///< the administrator sets its MTU, address and promiscuity
    IfIndex inner;
    std::vector<Member> members;                                 ///< in the order they joined
    BucketOwners owners{};                                       ///< the present owners
    SlotSet known = 0;                                           ///< the members for which `owners` was made
    bool measured = false;                                       ///< `owners` follows measured loads
    std::array<Slot, bucket_count> leaving{};                    ///< see Tables
    std::array<std::chrono::nanoseconds, max_ports + 1> drain{}; ///< see Tables
    std::vector<Slot> cpu_slots{};                               ///< see Tables
    Repetition notify_peers{}, mcast_rejoin{};
    SegmentLimits limited_to{}; ///< the team's limits as an earlier plan set them; zeros: not set
    /// The kernel manages the ports' MTU and filters and the team's carrier.
    bool kernel_manages_ports = false;
    bool tags = false;            ///< a device on the team receives frames with VLAN tags
    bool other_addresses = false; ///< the team's unicast list has other addresses than its own
};

/// The planned state of a port's device.
struct PortPlan {
    IfIndex index;
    MacAddress address;
    std::uint32_t mtu = 1500;          ///< bytes, without the Ethernet header
    bool promiscuous = false;          ///< the team needs frames that the port would drop
    bool all_multicast = true;         ///< a card drops groups that are not in its list
    bool kernel_manages_ports = false; ///< the kernel sets MTU and filters
    bool to_set_up = false;            ///< otherwise the administrator decides whether it is up
    bool operator==(const PortPlan&) const = default;
};

struct TeamPlan {
    MacAddress address;   ///< of the team
    bool carrier = false; ///< of the team
    /// Of the team: the smallest limits of its ports with TSO. Kernels before 6.19 do not set them
    /// (net/core/dev.c, netdev_compute_master_upper_features). A port without TSO, which leaves segmentation
    /// to software anyway, does not limit the others.
    SegmentLimits gso_max;
    BucketOwners owners{};
    Tables tables;
    std::vector<PortPlan> ports;
    bool operator==(const TeamPlan&) const = default;
};

TeamPlan make_plan(const PlanInput& input, const Decision& decision);

} // namespace teamo
