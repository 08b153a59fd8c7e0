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

/// Of a port that left and came between, whose counters ran backwards: nothing.
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
        // It counts a GSO packet once and whole. If all the others are as large as can be, so much is left.
        sending.source = BulkSource::at_least;
        sending.bulk = std::max(sending.bytes - sending.packets * (mtu + frame_header), 0.0);
    } else {
        sending.bulk = sending.bytes;
    }
    return sending;
}

Cuts cuts_of(const DeviceOffloads& device) {
    if (device.active.empty() && device.changeable.empty()) return Cuts::nothing;
    const bool ipv4 = device.active.contains(tso), ipv6 = device.active.contains(tso6);
    if (ipv4 && ipv6) return Cuts::nothing;
    return ipv4 || ipv6 ? Cuts::one_family : Cuts::all;
}

Segmentation segmentation_of(const DeviceOffloads& device, std::uint32_t mtu) {
    const auto sums = [&](std::string_view feature) { return device.active.contains(feature); };
    return {.mtu = mtu,
            .scatter_gather = device.active.contains(scatter_gather),
            .checksum = sums("tx-checksum-ip-generic") || sums("tx-checksum-ipv4")};
}

double price_of(const SegmentationCost& cost) { return std::max(cost.cut - cost.whole, 0.0); }

std::optional<double> cpu_share(const PortCost& cost) {
    if (!cost.measured) return std::nullopt;
    return cost.sending.bulk / 1024 * price_of(*cost.measured) / 1e9;
}

} // namespace teamo::ctl
