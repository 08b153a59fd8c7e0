// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The offload contract, applied to one device: which of its offloads shall be on, and which off.
#pragma once

#include "model/features.h"
#include "model/offload.h"

namespace teamo {

/// A device whose offloads are planned.
struct OffloadPremises {
    const OffloadContract* contract = nullptr;
    Features features;    ///< as they are
    FeatureNames kept;    ///< what was on when it joined
    FeatureNames in_team; ///< of TSO, what any port of the team has: tso_of()
    /// Frames that arrive here may be sent on, and what LRO merged cannot be sent on as it came
    /// (net/core/dev.c: netif_disable_lro). Without a word about it LRO is off then, and else left alone.
    bool forwards = false;
};

struct OffloadPlan {
    FeatureSettings settings; ///< what the driver can switch, and how
    FeatureNames required;    ///< what is missed where it is not on
    bool operator==(const OffloadPlan&) const = default;
};

OffloadPlan plan_offloads(const OffloadPremises& input);

/// What somebody wrote of a feature, or none.
const OffloadWish* wish_for(const OffloadContract& contract, std::string_view feature);

/// Of TSO, what a port has and is not to switch off: the other ports are required to have it too.
FeatureNames tso_of(const OffloadContract& contract, const FeatureNames& kept, const Features& features);

/// What is required and not on.
FeatureNames lacking(const OffloadPlan& plan, const Features& features);

/// What a device had, as far as the catalogue goes.
FeatureNames offloads_in(const FeatureNames& features);

} // namespace teamo
