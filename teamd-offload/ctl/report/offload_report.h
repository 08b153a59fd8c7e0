// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The output of `offload`, as text and as JSON: which offloads ports do not have, how much traffic the kernel
// segments for ports without TSO, and the CPU time of that; pure.
#pragma once

#include "ctl/report/state.h"
#include "kernel/packets/segmentation_cost.h"

#include <array>

namespace teamo::ctl {

/// How the amount of bulk is known.
enum class BulkSource : std::uint8_t {
    counted,  ///< the datapath counts it for each bucket
    at_least, ///< a lower bound from the mean packet size: the rest fits into packets up to the MTU
    unknown,  ///< the port counts segments only
};
constexpr std::string_view name_of(BulkSource source) {
    constexpr std::array<std::string_view, 3> names{"counted", "at least", "unknown"};
    return names[static_cast<std::size_t>(source)];
}

/// What a port sent, per second.
struct Sending {
    double bytes = 0, packets = 0;
    double bulk = 0; ///< bytes in GSO packets; an upper bound if the source is unknown
    BulkSource source = BulkSource::unknown;
    bool operator==(const Sending&) const = default;
};

/// From two states, `between` apart. The rate is that of this time; the share of bulk is that of the daemon's
/// last interval if the datapath counts it. `mtu` is the port's.
Sending sending_between(const TeamState& earlier, const TeamState& later, std::string_view port,
                        std::uint32_t mtu, std::chrono::duration<double> between);

/// The TCP traffic that the kernel segments for a device: of no, one or both IP versions.
enum class SoftwareTso : std::uint8_t { none, one_family, all };
/// `none` for a device whose offloads could not be read.
SoftwareTso software_tso_of(const DeviceOffloads& device);

/// How the kernel segments packets for it.
Segmentation segmentation_of(const DeviceOffloads& device, std::uint32_t mtu);

/// Of one port without TSO for at least one IP version.
struct PortCost {
    std::string port;
    SoftwareTso software_tso = SoftwareTso::all;
    Sending sending{};
    std::optional<SegmentationCost> measured{}; ///< none: it could not be measured
};

/// Nanoseconds of CPU time per KiB more than with TSO. Never negative: a negative difference is noise.
double extra_cost_of(const SegmentationCost& cost);
/// The share of one CPU that segmentation takes: 0.01 is 1 %. None if the cost was not measured. An upper
/// bound for SoftwareTso::one_family and BulkSource::unknown.
std::optional<double> cpu_share(const PortCost& cost);

struct OffloadReport {
    TeamState state;               ///< with its offloads
    std::vector<PortCost> costs;   ///< of the ports without TSO
    std::string measurement_error; ///< why a cost is not measured; empty: all are
};

/// Of a bond: what works over it in its mode.
std::vector<std::string> bond_remarks(const TeamState& state);

/// Sentences: which port limits the team, by which offload or limit, and whether it is used.
std::vector<std::string> offload_remarks(const OffloadStatus& offload);

/// Sentences on what software segmentation costs now.
std::vector<std::string> cost_remarks(const OffloadReport& report);

std::string offload_text(const OffloadReport& report);
json::Value offload_json(const OffloadReport& report);

} // namespace teamo::ctl
