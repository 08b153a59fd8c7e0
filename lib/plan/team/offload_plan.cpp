// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/team/offload_plan.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace teamo {
namespace {

using Alternatives = std::array<std::string_view, 2>; ///< the second may be empty, which is no feature
constexpr Alternatives checksum_ipv4{"tx-checksum-ip-generic", "tx-checksum-ipv4"},
    checksum_ipv6{"tx-checksum-ip-generic", "tx-checksum-ipv6"}, gather{scatter_gather}, tso_itself{tso},
    receive_checksum{"rx-checksum"};

struct Need {
    std::string_view feature;
    Alternatives any_of;
};
/// The kernel switches a feature off if none of `any_of` is on (net/core/dev.c: netdev_fix_features).
constexpr auto needs = std::to_array<Need>({
    {tso, gather},
    {tso, checksum_ipv4},
    {tso6, gather},
    {tso6, checksum_ipv6},
    {"tx-tcp-ecn-segmentation", tso_itself},
    {"tx-tcp-mangleid-segmentation", tso_itself},
    {"tx-udp-segmentation", gather},
    {"tx-udp-segmentation", checksum_ipv4},
    {"tls-hw-tx-offload", checksum_ipv4},
    {"tx-generic-segmentation", gather},
    {"rx-gro-hw", receive_checksum},
    {"tls-hw-rx-offload", receive_checksum},
});

/// The configured value of a feature; nullptr: not configured.
const OffloadWish* wish_for(const OffloadContract& contract, std::string_view feature) {
    const auto found = contract.wishes.find(feature);
    return found == contract.wishes.end() ? nullptr : &found->second;
}

bool is_off(const OffloadContract& contract, std::string_view feature) {
    const auto* wish = wish_for(contract, feature);
    return wish != nullptr && *wish == OffloadWish::off;
}

/// Whether a feature that this one needs must be off and no alternative is available.
bool is_blocked(const OffloadPlanInput& input, std::string_view feature) {
    const auto must_be_off = [&](std::string_view needed) { return is_off(*input.contract, needed); };
    const auto can_serve = [&](std::string_view needed) {
        return !must_be_off(needed) &&
               (input.features.active.contains(needed) || input.features.changeable.contains(needed));
    };
    return std::ranges::any_of(needs, [&](const Need& need) {
        return need.feature == feature && std::ranges::any_of(need.any_of, must_be_off) &&
               std::ranges::none_of(need.any_of, can_serve);
    });
}

/// nullptr: the feature is left alone.
const OffloadWish* effective_wish(const OffloadPlanInput& input, std::string_view feature) {
    static constexpr auto require = OffloadWish::require, keep = OffloadWish::keep, off = OffloadWish::off;
    if (const auto* written = wish_for(*input.contract, feature)) {
        const bool kept = input.kept.contains(feature);
        return *written != keep || kept ? written : nullptr;
    }
    if (is_blocked(input, feature)) return nullptr;
    // The kernel switches LRO off too if a device on the team forwards.
    if (feature == lro) return input.forwards ? &off : nullptr;
    if ((feature == tso || feature == tso6) && input.in_team.contains(feature) &&
        (!input.distrusts_tso || input.kept.contains(feature)))
        return &require;
    return input.kept.contains(feature) ? &keep : nullptr;
}

/// Plans to switch a feature on, with the features that it needs. Nothing if the device lacks one of these:
/// the kernel would switch the feature off again.
void switch_on(const OffloadPlanInput& input, std::string_view feature, FeatureSettings& settings) {
    const auto& active = input.features.active;
    const auto& changeable = input.features.changeable;
    if (!changeable.contains(feature)) return;
    FeatureSettings with_it{{std::string(feature), true}};
    for (const auto& need : needs) {
        const auto is_active = [&](std::string_view needed) { return active.contains(needed); };
        const auto can_be = [&](std::string_view needed) {
            return changeable.contains(needed) && !is_off(*input.contract, needed);
        };
        if (need.feature != feature || std::ranges::any_of(need.any_of, is_active)) continue;
        const auto found = std::ranges::find_if(need.any_of, can_be);
        if (found == need.any_of.end()) return;
        with_it.emplace(*found, true);
    }
    settings.merge(with_it);
}

} // namespace

OffloadPlan plan_offloads(const OffloadPlanInput& input) {
    OffloadPlan plan;
    for (const auto& offload : offload_catalogue()) {
        const auto* wish = effective_wish(input, offload.name);
        if (wish == nullptr) continue;
        if (*wish != OffloadWish::off)
            switch_on(input, offload.name, plan.settings);
        else if (input.features.changeable.contains(offload.name))
            plan.settings.insert_or_assign(std::string(offload.name), false);
        if (*wish == OffloadWish::require) plan.required.insert(offload.name);
    }
    return plan;
}

FeatureNames tso_of(const OffloadContract& contract, const FeatureNames& kept, const Features& features) {
    FeatureNames have;
    for (const auto feature : {tso, tso6})
        if (!is_off(contract, feature) && (kept.contains(feature) || features.active.contains(feature)))
            have.insert(feature);
    return have;
}

/// drivers/net/ethernet/realtek/r8169_main.c: scatter-gather and TSO are disabled by default due to faults of
/// some chips; a user can enable them at own risk.
bool distrusts_tso(std::string_view driver) { return driver == "r8169"; }

FeatureNames lacking(const OffloadPlan& plan, const Features& features) {
    return plan.required.without(features.active);
}

std::string refusal_without(const FeatureNames& lacks) {
    return fmt::format(R"(lacks {}, and "lacking" is "refuse")", fmt::join(lacks, ", "));
}

FeatureNames offloads_in(const FeatureNames& features) {
    FeatureNames list;
    for (const auto& offload : offload_catalogue())
        if (features.contains(offload.name)) list.insert(offload.name);
    return list;
}

} // namespace teamo
