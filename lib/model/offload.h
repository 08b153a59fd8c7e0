// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The offload contract: what a team requires of its ports' offloads; and the catalogue of offloads.
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
    keep,    ///< stays on if it was on when the port joined and can be changed
    require, ///< must be on: switched on if possible, else the port is lacking
    off,     ///< switched off while the device is a port
};
inline constexpr auto offload_wish_words = std::to_array<std::string_view>({"keep", "require", "off"});
constexpr std::string_view name_of(OffloadWish wish) {
    return offload_wish_words[static_cast<std::size_t>(wish)];
}

/// What to do with a port that does not have a required offload.
enum class Lacking : std::uint8_t {
    accept, ///< use it, and log a warning once
    demote, ///< transmit only while no port with all required offloads is up
    refuse, ///< it does not join; a port that loses an offload later is demoted
};
inline constexpr auto lacking_words = std::to_array<std::string_view>({"accept", "demote", "refuse"});
constexpr std::string_view name_of(Lacking lacking) {
    return lacking_words[static_cast<std::size_t>(lacking)];
}

struct OffloadContract {
    /// By the kernel's name. For features without an entry see plan/team/offloads.h.
    std::map<std::string, OffloadWish, std::less<>> wishes;
    Lacking lacking = Lacking::accept;
    bool repair = true; ///< false: changes by other programs are logged and left
    bool operator==(const OffloadContract&) const = default;
};

/// The columns in which the catalogue is shown.
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

/// All offloads that the contract covers. VLAN filters are not among them: see plan/team/reception.h.
std::span<const Offload> offload_catalogue();
const Offload* find_offload(std::string_view name);

inline constexpr std::string_view tso = "tx-tcp-segmentation", tso6 = "tx-tcp6-segmentation";
inline constexpr std::string_view lro = "rx-lro", scatter_gather = "tx-scatter-gather";

/// The features that a name in a configuration stands for: itself, or those of one of ethtool's words. Empty:
/// no such offload.
std::span<const std::string_view> offloads_named(std::string_view name);

/// All names that offloads_named() accepts.
std::span<const std::string_view> offload_names();

} // namespace teamo
