// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/report/offload_change.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace teamo::ctl {
namespace {

/// Besides all "*-segmentation": offloads that save CPU time for each packet.
constexpr std::array<std::string_view, 10> other_features{
    "tx-scatter-gather", "tx-checksum-ipv4",  "tx-checksum-ipv6",  "tx-checksum-sctp", "rx-checksum",
    "rx-gro-hw",         "tls-hw-tx-offload", "tls-hw-rx-offload", "esp-hw-offload",   "macsec-hw-offload"};

/// Not the variants that the kernel switches together with TSO (net/core/dev.c: netdev_fix_features).
bool is_offload(std::string_view feature) {
    const bool variant = feature == "tx-tcp-ecn-segmentation" || feature == "tx-tcp-mangleid-segmentation";
    return (feature.ends_with("-segmentation") && !variant) ||
           std::ranges::find(other_features, feature) != other_features.end();
}

/// tx-checksum-ip-generic (NETIF_F_HW_CSUM) includes the checksums of IPv4 and of IPv6.
FeatureNames offloads_of(const Features& features) {
    FeatureNames offloads;
    for (const auto& feature : features.active)
        if (is_offload(feature)) offloads.insert(feature);
    if (features.active.contains("tx-checksum-ip-generic"))
        offloads.insert({"tx-checksum-ipv4", "tx-checksum-ipv6"});
    return offloads;
}

std::uint32_t smaller(std::uint32_t one, std::uint32_t other) {
    return one == 0 || other == 0 ? std::max(one, other) : std::min(one, other);
}

} // namespace

OffloadChange offload_change(const std::string& port, const std::vector<std::string>& remaining_ports,
                             const OffloadsByPort& ports) {
    OffloadChange change;
    const auto leaving = ports.find(port);
    if (leaving == ports.end() || leaving->second.features.active.empty()) return change;
    const auto had = offloads_of(leaving->second.features);
    std::map<std::string, std::size_t> supporters;
    std::size_t known = 0;
    for (const auto& remaining : remaining_ports) {
        const auto found = ports.find(remaining);
        if (found == ports.end() || found->second.features.active.empty()) continue;
        ++known;
        const auto has = offloads_of(found->second.features);
        for (const auto& offload : had)
            if (!has.contains(offload)) change.lost[offload].push_back(remaining);
        for (const auto& offload : has)
            if (!had.contains(offload)) ++supporters[offload];
        change.gso_max_after = smaller(change.gso_max_after, found->second.gso_max);
    }
    for (const auto& [offload, count] : supporters)
        if (count == known) change.gained.push_back(offload);
    change.gso_max = smaller(change.gso_max_after, leaving->second.gso_max);
    return change;
}

} // namespace teamo::ctl
