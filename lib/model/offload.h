// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A device's features as ethtool -k shows them, by the kernel's names ("rx-lro"; net/ethtool/common.c:
// netdev_features_strings); the offload contract, what a team requires of its ports; and the catalogue.
#pragma once

#include "base/name_set.h"
#include "base/named.h"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace teamo {

using FeatureNames = NameSet;

struct Features {
    FeatureNames active;     ///< on
    FeatureNames wanted;     ///< requested; the driver may not have them on (yet)
    FeatureNames changeable; ///< all others are "[fixed]"
    bool operator==(const Features&) const = default;
};

/// Wanted or former values of features; true: on.
using FeatureSettings = std::map<std::string, bool, std::less<>>;

/// The settings that differ from the active features.
inline FeatureSettings missing(const Features& features, const FeatureSettings& settings) {
    FeatureSettings rest;
    for (const auto& [name, on] : settings)
        if (features.active.contains(name) != on) rest.emplace(name, on);
    return rest;
}

enum class OffloadWish : std::uint8_t {
    keep,    ///< stays on if it was on when the port joined and can be changed
    require, ///< must be on: switched on if possible, else the port is lacking
    off,     ///< switched off while the device is a port
};
template <>
inline constexpr std::array<std::string_view, 3> enum_names<OffloadWish>{"keep", "require", "off"};

/// What to do with a port that does not have a required offload.
enum class Lacking : std::uint8_t {
    accept, ///< use it, and log a warning once
    demote, ///< transmit only while no port with all required offloads is up
    refuse, ///< it does not join; a port that loses an offload later is demoted
};
template <>
inline constexpr std::array<std::string_view, 3> enum_names<Lacking>{"accept", "demote", "refuse"};

struct OffloadContract {
    /// By the kernel's name. For features without an entry see plan/team/offload_plan.h.
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
    std::string_view name;
    OffloadGroup group;
};

/// All offloads that the contract covers. VLAN filters are not among them: see plan/team/make_plan.h.
std::span<const Offload> offload_catalogue();
const Offload* find_offload(std::string_view name);

inline constexpr std::string_view tso = "tx-tcp-segmentation", tso6 = "tx-tcp6-segmentation",
                                  gso = "tx-generic-segmentation";
inline constexpr std::string_view lro = "rx-lro", scatter_gather = "tx-scatter-gather";
inline constexpr std::string_view device_tls = "tls-hw-tx-offload";

/// The features of a configured name: itself, or those of one of ethtool's words. Empty: no such offload.
std::span<const std::string_view> offloads_named(std::string_view name);

/// All names that offloads_named() accepts.
std::vector<std::string_view> offload_names();

} // namespace teamo
