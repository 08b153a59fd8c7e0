// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace teamo {

/// A number with a type of its own, without implicit conversions and without cost.
template <class Tag, class Rep>
struct Named {
    Rep value{};
    auto operator<=>(const Named&) const = default; // NOLINT(modernize-use-nullptr): clang-tidy 14 sees a 0
    constexpr explicit operator bool() const { return value != Rep{}; }
};

using IfIndex = Named<struct IfIndexTag, std::uint32_t>; ///< 0: no device (kernel: dev_new_index)
using Slot = Named<struct SlotTag, std::uint8_t>;        ///< 1 to 8: number of a port in its team; 0: no port

inline constexpr std::size_t max_ports = 8;      ///< per team; also the highest slot
inline constexpr std::size_t bucket_count = 256; ///< as many as teamd's lb_tx_hash_to_port_mapping

/// The names of an enumeration, in the order of its enumerators; each enumeration has a specialization.
template <class Enum>
inline constexpr std::array<std::string_view, 0> enum_names{};

template <class Enum>
    requires(!enum_names<Enum>.empty())
constexpr const char* name_of(Enum value) {
    return enum_names<Enum>[static_cast<std::size_t>(value)].data(); // of a literal: NUL follows
}

/// None: no value has that name.
template <class Enum>
constexpr std::optional<Enum> named(std::string_view name) {
    for (std::size_t number = 0; number < enum_names<Enum>.size(); ++number)
        if (enum_names<Enum>[number] == name) return static_cast<Enum>(number);
    return std::nullopt;
}

} // namespace teamo
