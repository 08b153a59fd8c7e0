// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The words of JSON, options and progress for the values of results.h.
#pragma once

#include "ctl/bench/results.h"

#include <array>
#include <optional>
#include <string_view>

namespace teamo::ctl::bench {

/// The names of an enumeration's values, in its order.
template <class Enum>
constexpr auto names = nullptr;
template <>
inline constexpr auto names<Way> = std::to_array<std::string_view>({"transmit", "receive", "both"});
template <>
inline constexpr auto names<Load> = std::to_array<std::string_view>({"stream", "file", "request", "http"});
template <>
inline constexpr auto names<Binding> = std::to_array<std::string_view>({"none", "follow", "cross"});
template <>
inline constexpr auto names<Carrier> = std::to_array<std::string_view>({"team", "ports", "bond", "teamd"});
template <>
inline constexpr auto names<Limit> = std::to_array<std::string_view>({"unknown", "cpu", "shaper", "link"});

template <class Enum>
constexpr std::string_view name_of(Enum value) {
    return names<Enum>.at(static_cast<std::size_t>(value));
}

/// None: no value has that name.
template <class Enum>
constexpr std::optional<Enum> named(std::string_view name) {
    for (std::size_t number = 0; number < names<Enum>.size(); ++number)
        if (names<Enum>[number] == name) return static_cast<Enum>(number);
    return std::nullopt;
}

} // namespace teamo::ctl::bench
