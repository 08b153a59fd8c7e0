// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/offloads.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace teamo {
namespace {

constexpr auto checksum_ipv4 =
    std::to_array<std::string_view>({"tx-checksum-ip-generic", "tx-checksum-ipv4"});
constexpr auto checksum_ipv6 =
    std::to_array<std::string_view>({"tx-checksum-ip-generic", "tx-checksum-ipv6"});
constexpr auto gather = std::to_array<std::string_view>({scatter_gather});
constexpr auto receive_checksum = std::to_array<std::string_view>({"rx-checksum"});

struct Need {
    std::string_view feature;
    std::span<const std::string_view> any_of;
};
/// What the kernel switches off together with something else (net/core/dev.c: netdev_fix_features).
constexpr auto needs = std::to_array<Need>({
    {tso, gather},
    {tso, checksum_ipv4},
    {tso6, gather},
    {tso6, checksum_ipv6},
    {"tx-tcp-ecn-segmentation", gather},
    {"tx-tcp-mangleid-segmentation", gather},
    {"tx-tcp-mangleid-segmentation", checksum_ipv4},
    {"tx-udp-segmentation", gather},
    {"tx-generic-segmentation", gather},
    {"rx-gro-hw", receive_checksum},
    {"tls-hw-rx-offload", receive_checksum},
});

bool is_tso(std::string_view feature) { return feature == tso || feature == tso6; }

bool is_off(const OffloadContract& contract, std::string_view feature) {
    const auto* wish = wish_for(contract, feature);
    return wish != nullptr && *wish == OffloadWish::off;
}

/// Whether what the feature needs is to be off, or is not there and nobody asks for it.
bool is_undone(const OffloadPremises& premises, std::string_view feature) {
    const auto there = [&](std::string_view needed) {
        const auto& features = premises.features;
        return !is_off(*premises.contract, needed) &&
               (features.active.contains(needed) || features.changeable.contains(needed));
    };
    return std::ranges::any_of(needs, [&](const Need& need) {
        return need.feature == feature && std::ranges::none_of(need.any_of, there);
    });
}

/// None: the feature is as anybody likes.
const OffloadWish* wish_here(const OffloadPremises& premises, std::string_view feature) {
    static constexpr auto require = OffloadWish::require, keep = OffloadWish::keep, off = OffloadWish::off;
    if (const auto* written = wish_for(*premises.contract, feature)) {
        const bool kept = premises.kept.contains(feature);
        return *written != keep || kept ? written : nullptr;
    }
    if (is_undone(premises, feature)) return nullptr;
    if (feature == lro && premises.forwards) return &off;
    if (is_tso(feature) && premises.in_team.contains(feature)) return &require;
    return premises.kept.contains(feature) ? &keep : nullptr;
}

} // namespace

const OffloadWish* wish_for(const OffloadContract& contract, std::string_view feature) {
    const auto found = contract.wishes.find(feature);
    return found == contract.wishes.end() ? nullptr : &found->second;
}

OffloadPlan plan_offloads(const OffloadPremises& premises) {
    OffloadPlan plan;
    for (const auto& offload : offload_catalogue()) {
        const auto* wish = wish_here(premises, offload.name);
        if (wish == nullptr) continue;
        const bool on = *wish != OffloadWish::off;
        if (premises.features.changeable.contains(offload.name)) plan.settings.emplace(offload.name, on);
        if (*wish == OffloadWish::require) plan.required.emplace(offload.name);
    }
    return plan;
}

FeatureNames tso_of(const OffloadContract& contract, const FeatureNames& kept, const Features& features) {
    FeatureNames have;
    for (const auto feature : {tso, tso6})
        if (!is_off(contract, feature) && (kept.contains(feature) || features.active.contains(feature)))
            have.emplace(feature);
    return have;
}

FeatureNames lacking(const OffloadPlan& plan, const Features& features) {
    FeatureNames list;
    std::ranges::set_difference(plan.required, features.active, std::inserter(list, list.end()));
    return list;
}

FeatureNames offloads_in(const FeatureNames& features) {
    FeatureNames list;
    for (const auto& offload : offload_catalogue())
        if (features.contains(offload.name)) list.emplace(offload.name);
    return list;
}

} // namespace teamo
