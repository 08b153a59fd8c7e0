// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

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

} // namespace teamo
