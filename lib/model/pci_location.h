// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The PCI location of a port's card.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace teamo {

/// Speed and width of a PCI Express link.
struct PcieLink {
    double speed = 0;   ///< GT/s for each lane: 2.5, 5, 8, 16 …; 0: not known
    unsigned width = 0; ///< lanes; 0: not known
    bool operator==(const PcieLink&) const = default;

    bool is_known() const { return speed > 0 && width > 0; }
    /// Mbit/s in one direction after line coding (8b/10b up to 5 GT/s, 128b/130b up to 32, 242 of 256 bytes
    /// above); packet headers take about 10 to 20 % of it. 0: not known.
    double mbits() const {
        const double code = speed <= 5 ? 0.8 : speed <= 32 ? 128.0 / 130 : 242.0 / 256;
        return speed * 1000 * code * width;
    }
};

struct DevicePlace {
    std::string address;           ///< "0000:03:00.0"; empty: not on the PCI bus
    std::vector<std::string> path; ///< bridges above it, the root port first
    std::vector<PcieLink> above{}; ///< by `path`: the present links of the bridges
    int node = -1;                 ///< NUMA node; -1: none
    PcieLink current{};            ///< the present link of the card
    PcieLink card{};               ///< the card's maximum
    PcieLink slot{};               ///< the smallest maximum of the bridges above; not known: no bridge
    bool operator==(const DevicePlace&) const = default;

    /// The maximum of card and slot together.
    PcieLink best() const {
        if (!card.is_known() || !slot.is_known()) return card.is_known() ? card : slot;
        return {.speed = std::min(card.speed, slot.speed), .width = std::min(card.width, slot.width)};
    }
};

} // namespace teamo
