// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The words of JSON, options and progress for the values of results.h and compare.h.
#pragma once

#include "base/named.h"
#include "bench/compare.h"

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
