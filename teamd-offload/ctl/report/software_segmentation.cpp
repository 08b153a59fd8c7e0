// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/report/software_segmentation.h"

#include "model/offload.h"

#include <algorithm>

namespace teamo::ctl {
namespace {

/// An Ethernet header with a VLAN tag.
constexpr double frame_header = 18;

struct Count {
    double bytes, packets;
};

/// 0 for a port that was removed and added again: its counters are smaller then.
Count count_between(const TeamState& earlier, const TeamState& later, std::string_view port) {
    const auto *before = find_port(earlier, port), *after = find_port(later, port);
    if (before == nullptr || after == nullptr || after->counters.tx_bytes < before->counters.tx_bytes ||
        after->counters.tx_packets < before->counters.tx_packets)
        return {};
    return {.bytes = static_cast<double>(after->counters.tx_bytes - before->counters.tx_bytes),
            .packets = static_cast<double>(after->counters.tx_packets - before->counters.tx_packets)};
}

} // namespace

Sending sending_between(const TeamState& earlier, const TeamState& later, std::string_view port,
                        std::uint32_t mtu, std::chrono::duration<double> between) {
    if (between.count() <= 0) return {};
    const auto count = count_between(earlier, later, port);
    Sending sending{.bytes = count.bytes / between.count(), .packets = count.packets / between.count()};
    if (const auto* load = find_balance(later, port);
        load != nullptr && later.balance->counted && load->bytes > 0) {
        sending.source = BulkSource::counted;
        sending.bulk = sending.bytes * std::min(load->bulk / load->bytes, 1.0);
    } else if (later.datapath == "bpf") {
        // It counts a GSO packet once, with its full length. Assume that all other packets are as large as
        // possible.
        sending.source = BulkSource::at_least;
        sending.bulk = std::max(sending.bytes - sending.packets * (mtu + frame_header), 0.0);
    } else {
        sending.bulk = sending.bytes;
    }
    return sending;
}

SoftwareTso software_tso_of(const DeviceOffloads& device) {
    if (device.active.empty() && device.changeable.empty()) return SoftwareTso::none;
    const bool ipv4 = device.active.contains(tso), ipv6 = device.active.contains(tso6);
    if (ipv4 && ipv6) return SoftwareTso::none;
    return ipv4 || ipv6 ? SoftwareTso::one_family : SoftwareTso::all;
}

Segmentation segmentation_of(const DeviceOffloads& device, std::uint32_t mtu) {
    const auto has = [&](std::string_view feature) { return device.active.contains(feature); };
    return {.mtu = mtu,
            .scatter_gather = device.active.contains(scatter_gather),
            .checksum = has("tx-checksum-ip-generic") || has("tx-checksum-ipv4")};
}

double extra_cost_of(const SegmentationCost& cost) { return std::max(cost.cut - cost.whole, 0.0); }

std::optional<double> cpu_share(const PortCost& cost) {
    if (!cost.measured) return std::nullopt;
    return cost.sending.bulk / 1024 * extra_cost_of(*cost.measured) / 1e9;
}

} // namespace teamo::ctl
