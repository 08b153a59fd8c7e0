// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a port that does not segment itself costs: how much leaves by it that must be cut first, and what CPU
// time that takes; pure.
#pragma once

#include "ctl/report/state.h"
#include "kernel/packets/segmentation_cost.h"

#include <chrono>

namespace teamo::ctl {

/// Where the figure of the bulk is from.
enum class BulkSource : std::uint8_t {
    counted,  ///< by the datapath, bucket by bucket
    at_least, ///< from the mean size of packets: so much must be in packets above the MTU
    unknown,  ///< the port counts only what is cut already
};
constexpr std::string_view name_of(BulkSource source) {
    switch (source) {
    case BulkSource::counted: return "counted";
    case BulkSource::at_least: return "at least";
    case BulkSource::unknown: return "unknown";
    }
    return "?";
}

/// What left by a port, per second.
struct Sending {
    double bytes = 0, packets = 0;
    double bulk = 0; ///< bytes in GSO packets; of an unknown source the most that it can be
    BulkSource source = BulkSource::unknown;
    bool operator==(const Sending&) const = default;
};

/// From two states, `between` apart. The share of bulk is that of the daemon's last interval, where it
/// counts; the rate is that of the time between. `mtu` is the port's.
Sending sending_between(const TeamState& earlier, const TeamState& later, std::string_view port,
                        std::uint32_t mtu, std::chrono::duration<double> between);

/// What of TCP the kernel must cut for a device.
enum class Cuts : std::uint8_t { nothing, one_family, all };
/// Of a device whose offloads could not be read: nothing.
Cuts cuts_of(const DeviceOffloads& device);

/// How packets are cut for it.
Segmentation segmentation_of(const DeviceOffloads& device, std::uint32_t mtu);

/// Of one port that cuts.
struct PortCost {
    std::string port;
    Cuts cuts = Cuts::all;
    Sending sending{};
    std::optional<SegmentationCost> measured{}; ///< none: it could not be
};

/// Nanoseconds that a KiB costs more than with TSO. Never negative: what is less than nothing is noise.
double price_of(const SegmentationCost& cost);
/// The part of one CPU that cutting takes: 0.01 is one per cent. None where the price is not known. The most
/// that it can be where only one family is cut, or the bulk is not known.
std::optional<double> cpu_share(const PortCost& cost);

} // namespace teamo::ctl
