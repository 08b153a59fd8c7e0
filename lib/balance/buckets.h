// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which hash bucket leaves by which port. Two questions, answered apart: where a bucket lives
// (changes only when ports join or leave, and then as little as possible), and where it goes while
// its port is down (known beforehand, so that losing a port is one write of one word).
#pragma once

#include "model/tables.h"

#include <array>

namespace teamo {

/// The slot a bucket lives on; Slot{0} where there are no ports.
using BucketOwners = std::array<Slot, bucket_count>;

/// Even homes over `slots` (shares differ by one at most), moving no more buckets than evenness asks for.
/// From nothing, each slot gets one contiguous range: the flow hash spreads arithmetic progressions
/// of addresses evenly over ranges (lib/datapath/bpf/flow_hash.h).
BucketOwners assign_evenly(const BucketOwners& now, SlotSet slots);

/// Homes as they are, but for what a change of members asks for: the buckets of a slot that left go to the
/// others, and one that came gets its share (assign_evenly). `known`: the members that `now` was made for.
/// `measured`: homes follow loads, so that where nobody came only the buckets without a home move, in turn.
BucketOwners settle(const BucketOwners& now, SlotSet known, SlotSet slots, bool measured);

/// The order of preference of every bucket: its home first, then the other slots. A home's buckets go
/// through the orders of the others one by one, so that its share spreads evenly whichever ports,
/// one or several, are down.
Buckets preferences(const BucketOwners& owners, SlotSet slots);

} // namespace teamo
