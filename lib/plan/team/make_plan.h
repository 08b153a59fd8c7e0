// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Configuration, observation and decision in; what shall be out. Pure, and total: the plan says every
// thing that the team needs, whether it is so already or not.
#pragma once

#include "balance/buckets.h"
#include "model/observation.h"
#include "model/tables.h"
#include "runner/runner.h"

#include <vector>

namespace teamo {

/// A port as the plan needs it.
struct Member {
    IfIndex index;
    Slot slot;
    MacAddress own_address;    ///< the one it came with
    bool filters_tags = false; ///< it drops VLAN tags that it was not told of, and that cannot be changed
    PortSettings settings{};
    SegmentLimits gso_max{}; ///< of its device
    bool segments = true;    ///< its TSO is on
    bool to_set_up = false;  ///< it is down by our doing
    bool operator==(const Member&) const = default;
};

struct PlanInput {
    const RunnerConfig* runner = nullptr;
    const Link* team = nullptr; ///< its MTU, address and promiscuity are the administrator's to set
    IfIndex inner;
    std::vector<Member> members;              ///< in the order they joined
    BucketOwners owners{};                    ///< where the buckets live now
    SlotSet known = 0;                        ///< the members that these homes were made for
    bool measured = false;                    ///< homes follow measured loads
    std::array<Slot, bucket_count> leaving{}; ///< as Tables has it
    std::array<std::chrono::nanoseconds, max_ports + 1> drain{}; ///< as Tables has it
    std::vector<Slot> cpu_slots{};                               ///< as Tables has it
    Repetition notify_peers{}, mcast_rejoin{};
    SegmentLimits limited_to{}; ///< the team's own limits as an earlier plan set them; zeros: none did
    bool kernel_manages_ports =
        false;                    ///< the kernel sees to the ports' MTU and filters and the team's carrier
    bool tags = false;            ///< somebody above the team takes frames with VLAN tags
    bool other_addresses = false; ///< the team's list of unicast addresses has more than its own
};

/// What a port's device shall be like.
struct PortPlan {
    IfIndex index;
    MacAddress address;
    std::uint32_t mtu = 1500;          ///< bytes, without the Ethernet header
    bool promiscuous = false;          ///< somebody above the team takes in what the port would not
    bool all_multicast = true;         ///< a card drops groups it was not told of
    bool kernel_manages_ports = false; ///< MTU and filters are the kernel's to set
    bool to_set_up = false;            ///< down or up is else the administrator's to say
    bool operator==(const PortPlan&) const = default;
};

struct TeamPlan {
    MacAddress address;   ///< of the team
    bool carrier = false; ///< of the team
    /// Of the team: no packet is larger than the least of its ports that segment at all can cut itself
    /// (kernels before 6.19 do not see to it: net/core/dev.c, netdev_compute_master_upper_features). A port
    /// that leaves it to software anyway sets no limit to the others.
    SegmentLimits gso_max;
    BucketOwners owners{}; ///< where the buckets shall live
    Tables tables;
    std::vector<PortPlan> ports;
    bool operator==(const TeamPlan&) const = default;
};

TeamPlan make_plan(const PlanInput& input, const Decision& decision);

} // namespace teamo
