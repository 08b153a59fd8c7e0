// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Applies the offload contract to one device: which of its offloads must be on, and which off.
#pragma once

#include "model/offload.h"

namespace teamo {

/// The device and its team.
struct OffloadPlanInput {
    const OffloadContract* contract = nullptr;
    Features features;    ///< at present
    FeatureNames kept;    ///< features that were on when it joined
    FeatureNames in_team; ///< TSO features that any port of the team has: tso_of()
    /// Its driver leaves TSO off because of faults of its cards: only the configuration switches it on.
    bool distrusts_tso = false;
    /// Received frames may be forwarded. LRO, whose merged frames cannot be forwarded unchanged
    /// (net/core/dev.c: netif_disable_lro), is then off unless configured; otherwise it is left alone.
    bool forwards = false;
};

struct OffloadPlan {
    FeatureSettings settings; ///< features that the driver can switch; true: on
    FeatureNames required;    ///< features that must be on
};

OffloadPlan plan_offloads(const OffloadPlanInput& input);

/// The TSO features that a port has and keeps: the other ports are required to have them too.
FeatureNames tso_of(const OffloadContract& contract, const FeatureNames& kept, const Features& features);

/// Drivers that have TSO off by default and let the user switch it on at their own risk.
bool distrusts_tso(std::string_view driver);

/// Required features that are not on.
FeatureNames lacking(const OffloadPlan& plan, const Features& features);

/// For a port that may not join without these (Lacking::refuse).
std::string refusal_without(const FeatureNames& lacks);

/// Those of `features` that are in the catalogue.
FeatureNames offloads_in(const FeatureNames& features);

} // namespace teamo
