// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A port that is drained: no traffic goes by it, so that its cable can be pulled (docs/adr/0043).
#pragma once

#include "base/named.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace teamo {

/// How far it is, in this order. A later phase may end in an earlier one: a port that has to carry again,
/// because no other can, begins anew.
enum class DrainPhase : std::uint8_t {
    none,
    moving,    ///< its buckets move to other ports; until then it carries
    emptying,  ///< it is given no packets any more; those that it has leave its queue
    telling,   ///< lacp: its partner is told to stop, and has not
    receiving, ///< the other end still sends to it
    drained,   ///< it can be unplugged
};
template <>
inline constexpr std::array<std::string_view, 6> enum_names<DrainPhase>{"none",    "moving",    "emptying",
                                                                        "telling", "receiving", "drained"};

/// No packets are given to it.
constexpr bool is_silent(DrainPhase phase) { return phase > DrainPhase::moving; }
/// Its LACP partner is told to stop.
constexpr bool is_out(DrainPhase phase) { return phase >= DrainPhase::telling; }

/// Of a port, as the journal keeps it.
struct PortDrain {
    std::optional<bool> by_hand{}; ///< drained, or not, by command; none: as configured
    bool forced = false;           ///< also if no other port carries
    DrainPhase phase = DrainPhase::none;
    bool operator==(const PortDrain&) const = default;
};

struct DrainStatus {
    DrainPhase phase = DrainPhase::none;
    bool by_hand = false; ///< by command; otherwise the configuration has it
    bool forced = false;
    std::uint64_t received = 0; ///< frames in the last second
    bool operator==(const DrainStatus&) const = default;
};
/// What it waits for, a sentence without the port's name; empty: for nothing.
std::string text_of(const DrainStatus& drain);

} // namespace teamo
