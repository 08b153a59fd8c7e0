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
    {"tx-generic-segmentation", gso},
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

// The words of ethtool(8), option -K.
constexpr auto rx_features = std::to_array<std::string_view>({"rx-checksum"});
constexpr auto tx_features = std::to_array<std::string_view>(
    {"tx-checksum-ipv4", "tx-checksum-ip-generic", "tx-checksum-ipv6", "tx-checksum-sctp"});
constexpr auto sg_features =
    std::to_array<std::string_view>({"tx-scatter-gather", "tx-scatter-gather-fraglist"});
constexpr auto tso_features =
    std::to_array<std::string_view>({"tx-tcp-segmentation", "tx-tcp-ecn-segmentation",
                                     "tx-tcp-mangleid-segmentation", "tx-tcp6-segmentation"});
constexpr auto gso_features = std::to_array<std::string_view>({"tx-generic-segmentation"});
constexpr auto gro_features = std::to_array<std::string_view>({"rx-gro"});
constexpr auto lro_features = std::to_array<std::string_view>({"rx-lro"});
constexpr auto rxvlan_features = std::to_array<std::string_view>({"rx-vlan-hw-parse"});
constexpr auto txvlan_features = std::to_array<std::string_view>({"tx-vlan-hw-insert"});

/// ethtool -K's words for several features at once ("tso", "tcp-segmentation-offload").
struct OffloadWord {
    std::string_view name, long_name;
    std::span<const std::string_view> features;
};
constexpr auto words = std::to_array<OffloadWord>({
    {"rx", "rx-checksumming", rx_features},
    {"tx", "tx-checksumming", tx_features},
    {"sg", "scatter-gather", sg_features},
    {"tso", "tcp-segmentation-offload", tso_features},
    {"gso", "generic-segmentation-offload", gso_features},
    {"gro", "generic-receive-offload", gro_features},
    {"lro", "large-receive-offload", lro_features},
    {"rxvlan", "rx-vlan-offload", rxvlan_features},
    {"txvlan", "tx-vlan-offload", txvlan_features},
});

constexpr auto names = [] {
    std::array<std::string_view, catalogue.size() + 2 * words.size()> all{};
    std::size_t at = 0;
    for (const auto& offload : catalogue)
        all[at++] = offload.name;
    for (const auto& word : words) {
        all[at++] = word.name;
        all[at++] = word.long_name;
    }
    return all;
}();

} // namespace

std::span<const Offload> offload_catalogue() { return catalogue; }

const Offload* find_offload(std::string_view name) {
    const auto* found = std::ranges::find(catalogue, name, &Offload::name);
    return found == catalogue.end() ? nullptr : found;
}

std::span<const std::string_view> offloads_named(std::string_view name) {
    for (const auto& word : words)
        if (word.name == name || word.long_name == name) return word.features;
    if (const auto* offload = find_offload(name); offload != nullptr) return {&offload->name, 1};
    return {};
}

std::span<const std::string_view> offload_names() { return names; }

} // namespace teamo
