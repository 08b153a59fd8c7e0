// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The words of JSON, options and progress for the values of results.h and compare.h.
#pragma once

#include "base/named.h"
#include "bench/compare.h"

#include <optional>

namespace teamo {

template <>
inline constexpr std::array<std::string_view, 3> enum_names<bench::Way>{"transmit", "receive", "both"};
template <>
inline constexpr std::array<std::string_view, 4> enum_names<bench::Load>{"stream", "file", "request", "http"};
template <>
inline constexpr std::array<std::string_view, 4> enum_names<bench::Binding>{"none", "unbound", "follow",
                                                                            "cross"};
template <>
inline constexpr std::array<std::string_view, 4> enum_names<bench::Carrier>{"team", "ports", "bond", "teamd"};
template <>
inline constexpr std::array<std::string_view, 4> enum_names<bench::Limit>{"unknown", "cpu", "shaper", "link"};
template <>
inline constexpr std::array<std::string_view, 8> enum_names<bench::Subject>{
    "single_sum",      "demand_by_ports", "tso_demand",       "tso_throughput",
    "bare_throughput", "bare_demand",     "bound_throughput", "bound_demand"};

} // namespace teamo

namespace teamo::bench {

/// None: no value has that name.
template <class Enum>
constexpr std::optional<Enum> named(std::string_view name) {
    for (std::size_t number = 0; number < enum_names<Enum>.size(); ++number)
        if (enum_names<Enum>[number] == name) return static_cast<Enum>(number);
    return std::nullopt;
}

} // namespace teamo::bench
