// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace teamo {

/// A number that is not just any number. Costs nothing, converts to nothing.
template <class Tag, class Rep>
struct Named {
    Rep value{};
    auto operator<=>(const Named&) const = default; // NOLINT(modernize-use-nullptr): clang-tidy 14 sees a 0
    constexpr explicit operator bool() const { return value != Rep{}; }
};

using IfIndex = Named<struct IfIndexTag, std::uint32_t>; ///< 0 is no device (kernel: dev_new_index)
using Slot = Named<struct SlotTag, std::uint8_t>; ///< 1 to 8: a port's place in the datapath; 0 is none

inline constexpr std::size_t max_ports = 8; ///< ports of one team, and slots
inline constexpr std::size_t bucket_count =
    256; ///< hash buckets (teamd's lb_tx_hash_to_port_mapping has as many)

} // namespace teamo
