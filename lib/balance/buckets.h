// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The owner and the next ports of each hash bucket. Owners change as little as possible when ports join or
// leave. The next ports, used while the owner does not carry, are computed in advance, so that a failover is
// one write of one word. With hash "cpu" a CPU takes the place of a bucket.
#pragma once

#include "base/cpu_list.h"
#include "model/tables.h"

#include <span>

namespace teamo {

/// By bucket: the slot of its owner; Slot{0} if there are no ports.
using BucketOwners = std::array<Slot, bucket_count>;

/// By slot: its share beside those of the others (ports.PORT.weight); not 0.
using Weights = std::array<std::uint32_t, max_ports + 1>;
inline constexpr Weights equal_weights = [] {
    Weights weights{};
    weights.fill(1);
    return weights;
}();

/// Assigns the buckets to `slots` in proportion to their weights, with as few moves as possible: the numbers
/// differ by less than one from their shares, but each slot has a bucket.
/// Without present owners each slot gets one contiguous range: the flow hash spreads arithmetic progressions
/// of addresses evenly over ranges (lib/datapath/bpf/flow_hash.h).
BucketOwners assign_evenly(const BucketOwners& now, SlotSet slots, const Weights& weights = equal_weights);

/// Changes owners only as far as a change of members requires: the buckets of a slot that left go to the
/// others, and a new slot gets its share (assign_evenly). `known`: the members for which `now` was made, with
/// the weights that they have.
/// `measured`: owners follow loads, so without a new slot only buckets without an owner move, in turn.
BucketOwners settle(const BucketOwners& now, SlotSet known, SlotSet slots, bool measured,
                    const Weights& weights = equal_weights);

/// The order of slots of each bucket: its owner first, then the next ports. The buckets of an owner use
/// different orders of the other slots, so that its share is spread evenly, or by their weights, whichever
/// ports are down. `last`: slots that come after all of them.
Buckets preferences(const BucketOwners& owners, SlotSet slots, const Weights& weights = equal_weights,
                    SlotSet last = 0);

/// A port and the CPUs that serve its interrupts; empty if they are not known.
struct ServedPort {
    Slot slot;
    CpuList interrupt_cpus;
    bool operator==(const ServedPort&) const = default;
};

/// By CPU number: the slot of each CPU in `online`; Slot{0} for other CPUs, or if there are no ports.
/// - A CPU that serves the interrupts of one port gets that port.
/// - A CPU that serves several ports gets the one with the fewest CPUs.
/// - The other CPUs are distributed so that the ports have equal numbers, first to the port with the nearest
///   interrupt CPU by number.
/// The order of the ports does not matter.
std::vector<Slot> cpu_slots(std::span<const ServedPort> ports, const CpuList& online);

/// The CPUs that send through the slot's port.
CpuList cpus_of(const std::vector<Slot>& cpu_slots, Slot slot);

} // namespace teamo
