// SPDX-License-Identifier: LGPL-2.1-or-later
//
// LLDPDUs as a switch sends them.
#pragma once

#include "base/bytes.h"

#include <string_view>

namespace teamo::test {

/// Adds a TLV (IEEE 802.1AB-2016, 8.4).
inline void add_tlv(FrameWriter& frame, unsigned type, std::string_view value) {
    frame.big_endian(static_cast<std::uint16_t>(type << 9 | value.size()));
    frame.raw(std::as_bytes(std::span(value)));
}

/// A frame as far as its EtherType.
inline FrameWriter lldp_header(std::uint8_t last_byte_of_group = 0x0e) {
    FrameWriter frame;
    frame.mac({{0x01, 0x80, 0xc2, 0, 0, last_byte_of_group}}).mac({{2, 0, 0, 0, 0, 0x77}});
    frame.big_endian(std::uint16_t{0x88cc});
    return frame;
}

/// Chassis ID "locally assigned", port ID "interface name".
inline Bytes lldp_frame(std::string_view chassis, std::string_view port, std::uint16_t ttl,
                        std::string_view name = "", std::uint8_t last_byte_of_group = 0x0e) {
    auto frame = lldp_header(last_byte_of_group);
    add_tlv(frame, 1, std::string("\7").append(chassis));
    add_tlv(frame, 2, std::string("\5").append(port));
    add_tlv(frame, 3, std::string{static_cast<char>(ttl >> 8), static_cast<char>(ttl)});
    if (!name.empty()) add_tlv(frame, 5, name);
    add_tlv(frame, 0, "");
    return frame.take();
}

} // namespace teamo::test
