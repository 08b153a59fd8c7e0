// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.h"

#include <cstdint>

namespace teamo {

/// The device that the packets are cut for.
struct Segmentation {
    std::uint32_t mtu = 1500;                              ///< bytes, 576 to 65535
    bool scatter_gather = true;                            ///< without it every segment is copied together
    bool checksum = true;                                  ///< without it every segment is summed by the CPU
    auto operator<=>(const Segmentation&) const = default; // NOLINT(modernize-use-nullptr): as in named.h
};

/// Nanoseconds of CPU time that a KiB of bulk costs, from the system call until the driver has it: medians of
/// many small rounds, taken in turn.
struct SegmentationCost {
    double whole = 0; ///< the device does TSO
    double cut = 0;   ///< it does not, and the kernel cuts
    bool operator==(const SegmentationCost&) const = default;
};

/// Measures it here and now, in some 50 ms. GSO packets of TCP are sent by one end of a veth pair whose TSO
/// is on and off in turn; the other end drops what arrives, so that nobody's receiving is counted. All of
/// that is in a network namespace that is made for it and goes with the thread that made it. EPERM: that
/// needs CAP_SYS_ADMIN. What a card's driver pays for the many descriptors is not in it.
Result<SegmentationCost> measure_segmentation(const Segmentation& device);

} // namespace teamo
