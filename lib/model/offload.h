// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The offload contract: what a team asks of its ports' offloads, and which offloads there are to ask for.
#pragma once

#include "model/features.h"

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace teamo {

enum class OffloadWish : std::uint8_t {
    keep,    ///< what was on, and can be changed, when the port joined stays on
    require, ///< shall be on: switched on where it can be, complained of where it cannot
    off,     ///< switched off while the device is a port
};
inline constexpr auto offload_wish_words = std::to_array<std::string_view>({"keep", "require", "off"});
constexpr std::string_view name_of(OffloadWish wish) {
    return offload_wish_words[static_cast<std::size_t>(wish)];
}

/// What becomes of a port that lacks what is required of it and cannot be given it.
enum class Lacking : std::uint8_t {
    accept, ///< used as it is, complained of once
    demote, ///< transmits only while no port that has all is up
    refuse, ///< does not join; one that comes to lack something later is demoted
};
inline constexpr auto lacking_words = std::to_array<std::string_view>({"accept", "demote", "refuse"});
constexpr std::string_view name_of(Lacking lacking) {
    return lacking_words[static_cast<std::size_t>(lacking)];
}

struct OffloadContract {
    /// By the kernel's name; what follows for a feature without an entry, plan/offloads.h says.
    std::map<std::string, OffloadWish, std::less<>> wishes;
    Lacking lacking = Lacking::accept;
    bool repair = true; ///< false: what somebody else switches is said and left
    bool operator==(const OffloadContract&) const = default;
};

/// The columns in which people are shown the catalogue.
enum class OffloadGroup : std::uint8_t {
    tso,
    tso6,
    uso,
    gso,
    gro,
    lro,
    tx_checksum,
    rx_checksum,
    scatter_gather,
    vlan,
    tunnels,
    tls,
    other,
};

struct Offload {
    std::string_view name; ///< the kernel's (net/ethtool/common.c: netdev_features_strings)
    OffloadGroup group;
};

/// Every offload that is watched. VLAN filters are not among them: those are plan/reception's.
std::span<const Offload> offload_catalogue();
const Offload* find_offload(std::string_view name);

inline constexpr std::string_view tso = "tx-tcp-segmentation", tso6 = "tx-tcp6-segmentation";
inline constexpr std::string_view lro = "rx-lro", scatter_gather = "tx-scatter-gather";

/// The features that a name in a configuration stands for: itself, or those of one of ethtool's words. Empty:
/// no such offload.
std::span<const std::string_view> offloads_named(std::string_view name);

/// Every name that offloads_named() knows.
std::span<const std::string_view> offload_names();

} // namespace teamo
