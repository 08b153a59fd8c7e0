// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/offload.h"

#include <algorithm>

namespace teamo {
namespace {

using enum OffloadGroup;

// Features that the running kernel does not have do no harm.
constexpr auto catalogue = std::to_array<Offload>({
    {"tx-tcp-segmentation", OffloadGroup::tso},
    {"tx-tcp6-segmentation", OffloadGroup::tso6},
    {"tx-tcp-ecn-segmentation", other},
    {"tx-tcp-mangleid-segmentation", other},
    {"tx-tcp-accecn-segmentation", other},
    {"tx-udp-segmentation", uso},
    {"tx-sctp-segmentation", other},
    {"tx-esp-segmentation", tunnels},
    {"tx-gre-segmentation", tunnels},
    {"tx-gre-csum-segmentation", tunnels},
    {"tx-ipxip4-segmentation", tunnels},
    {"tx-ipxip6-segmentation", tunnels},
    {"tx-udp_tnl-segmentation", tunnels},
    {"tx-udp_tnl-csum-segmentation", tunnels},
    {"tx-tunnel-remcsum-segmentation", tunnels},
    {"tx-gso-partial", other},
    {"tx-gso-list", other},
    {"tx-generic-segmentation", OffloadGroup::gso},
    {"rx-gro", gro},
    {"rx-gro-hw", gro},
    {"rx-gro-list", other},
    {"rx-udp-gro-forwarding", other},
    {"rx-lro", OffloadGroup::lro},
    {"tx-checksum-ipv4", tx_checksum},
    {"tx-checksum-ipv6", tx_checksum},
    {"tx-checksum-ip-generic", tx_checksum},
    {"tx-checksum-sctp", other},
    {"rx-checksum", rx_checksum},
    {"tx-scatter-gather", OffloadGroup::scatter_gather},
    {"tx-scatter-gather-fraglist", other},
    {"tx-vlan-hw-insert", vlan},
    {"tx-vlan-stag-hw-insert", other},
    {"rx-vlan-hw-parse", vlan},
    {"rx-vlan-stag-hw-parse", other},
    {"tls-hw-tx-offload", tls},
    {"tls-hw-rx-offload", tls},
    {"tls-hw-record", tls},
});

/// ethtool -K's words for one or several features (ethtool(8)).
struct OffloadWord {
    std::string_view name, long_name;
    std::array<std::string_view, 4> features; ///< the rest is empty
};
constexpr auto words = std::to_array<OffloadWord>({
    {"rx", "rx-checksumming", {"rx-checksum"}},
    {"tx",
     "tx-checksumming",
     {"tx-checksum-ipv4", "tx-checksum-ip-generic", "tx-checksum-ipv6", "tx-checksum-sctp"}},
    {"sg", "scatter-gather", {"tx-scatter-gather", "tx-scatter-gather-fraglist"}},
    {"tso",
     "tcp-segmentation-offload",
     {"tx-tcp-segmentation", "tx-tcp-ecn-segmentation", "tx-tcp-mangleid-segmentation",
      "tx-tcp6-segmentation"}},
    {"gso", "generic-segmentation-offload", {"tx-generic-segmentation"}},
    {"gro", "generic-receive-offload", {"rx-gro"}},
    {"lro", "large-receive-offload", {"rx-lro"}},
    {"rxvlan", "rx-vlan-offload", {"rx-vlan-hw-parse"}},
    {"txvlan", "tx-vlan-offload", {"tx-vlan-hw-insert"}},
});

} // namespace

std::span<const Offload> offload_catalogue() { return catalogue; }

const Offload* find_offload(std::string_view name) {
    const auto* found = std::ranges::find(catalogue, name, &Offload::name);
    return found == catalogue.end() ? nullptr : found;
}

std::span<const std::string_view> offloads_named(std::string_view name) {
    for (const auto& word : words)
        if (word.name == name || word.long_name == name)
            return {word.features.begin(), std::ranges::find(word.features, std::string_view{})};
    if (const auto* offload = find_offload(name)) return {&offload->name, 1};
    return {};
}

std::vector<std::string_view> offload_names() {
    std::vector<std::string_view> names;
    for (const auto& offload : catalogue)
        names.push_back(offload.name);
    for (const auto& word : words)
        names.insert(names.end(), {word.name, word.long_name});
    return names;
}

} // namespace teamo
