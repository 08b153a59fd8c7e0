// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Where a port's card stands in the machine.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace teamo {

/// What a PCI Express link carries.
struct PcieLink {
    double speed = 0;   ///< GT/s for each lane: 2.5, 5, 8, 16 …; 0: not known
    unsigned width = 0; ///< lanes; 0: not known
    bool operator==(const PcieLink&) const = default;

    bool is_known() const { return speed > 0 && width > 0; }
    /// Mbit/s one way, without the line code's share (8b/10b up to 5 GT/s, 128b/130b to 32, 242 of 256 bytes
    /// above); packets' headers take some 10 to 20 % of it. 0: not known.
    double mbits() const {
        const double code = speed <= 5 ? 0.8 : speed <= 32 ? 128.0 / 130 : 242.0 / 256;
        return speed * 1000 * code * width;
    }
};

struct DevicePlace {
    std::string address;           ///< "0000:03:00.0"; empty: not on the PCI bus
    std::vector<std::string> path; ///< bridges above it, the root port first
    std::vector<PcieLink> above{}; ///< by `path`: the bridges' own links as they run now
    int node = -1;                 ///< NUMA node; -1: none
    PcieLink current{};            ///< as it runs now
    PcieLink card{};               ///< the most the card can do
    PcieLink slot{}; ///< the most all bridges above can do, the least of them; not known: no bridge
    bool operator==(const DevicePlace&) const = default;

    /// What card and slot could do together.
    PcieLink best() const {
        if (!card.is_known() || !slot.is_known()) return card.is_known() ? card : slot;
        return {.speed = std::min(card.speed, slot.speed), .width = std::min(card.width, slot.width)};
    }
};

} // namespace teamo
