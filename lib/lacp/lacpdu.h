// SPDX-License-Identifier: LGPL-2.1-or-later
//
// LACPDUs and marker PDUs as complete Ethernet frames. Frames from outside are checked for their length
// before anything is read. IEEE 802.1AX-2020, 6.4.2 and 6.5.3.
#pragma once

#include "base/bytes.h"
#include "model/lacp.h"

#include <optional>
#include <span>
#include <variant>

namespace teamo::lacp {

inline constexpr std::uint16_t ether_slow = 0x8809;
inline constexpr MacAddress slow_protocols{{0x01, 0x80, 0xc2, 0x00, 0x00, 0x02}};
inline constexpr std::size_t frame_size = 14 + 110; ///< of both, without the check sequence

struct Lacpdu {
    std::uint8_t version = 1; ///< as received; newer ones are read like version 1, as the standard demands
    PortInfo actor{}, partner{};
    std::uint16_t collector_max_delay = 0; ///< tens of microseconds
    bool operator==(const Lacpdu&) const = default;
};

/// A request to answer when everything sent before it has been received (6.5).
struct Marker {
    bool is_response = false;
    std::uint16_t requester_port = 0;
    MacAddress requester_system{};
    std::uint32_t transaction = 0;
    bool operator==(const Marker&) const = default;
};

/// Why a frame was not used. "unknown": another protocol of the slow protocols, for example OAM.
enum class Unusable : std::uint8_t { unknown, illegal };

using Received = std::variant<Lacpdu, Marker, Unusable>;

/// Reads a frame of the slow protocols from its destination address on. Reserved fields, TLV types and the
/// version are not checked (6.4.2.4: later versions may use them); lengths are.
Received parse_frame(std::span<const std::byte> frame);

/// `source`: the port's own address.
Bytes build_frame(const Lacpdu& pdu, const MacAddress& source);
Bytes build_frame(const Marker& marker, const MacAddress& source);

} // namespace teamo::lacp
