// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.h"

#include <cstdint>

namespace teamo {

/// The device that packets are segmented for.
struct Segmentation {
    std::uint32_t mtu = 1500;   ///< bytes, 576 to 65535
    bool scatter_gather = true; ///< without it the kernel copies every segment into one buffer
    bool checksum = true;       ///< without it the CPU computes every segment's checksum
    auto operator<=>(const Segmentation&) const = default; // NOLINT(modernize-use-nullptr): as in named.h
};

/// CPU time in nanoseconds per KiB of bulk, from the system call to the driver: medians of many short rounds,
/// with and without TSO in turn.
struct SegmentationCost {
    double whole = 0; ///< the device does TSO
    double cut = 0;   ///< it does not; the kernel segments
    bool operator==(const SegmentationCost&) const = default;
};

/// Measures for about 50 ms. Sends GSO packets of TCP from one end of a veth pair with TSO on and off in
/// turn; the other end drops them, so that reception is not counted. The pair is in a temporary network
/// namespace. EPERM: CAP_SYS_ADMIN is missing. Does not include a card driver's cost for the additional
/// descriptors.
Result<SegmentationCost> measure_segmentation(const Segmentation& device);

} // namespace teamo
