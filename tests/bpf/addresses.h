// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The addresses of the packets: from the team (`own`) to another host (`peer`), or back.
#pragma once

#include "base/mac_address.h"
#include "support/traffic/packet.h"

namespace teamo::test {

inline constexpr MacAddress peer{{0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcc}},
    own{{0x02, 0x11, 0x22, 0x33, 0x44, 0x55}};

inline Bytes some_packet(std::uint16_t port = 1) {
    return PacketBuilder(peer, own).ipv4({}).tcp(port, 2).payload(100).bytes();
}

} // namespace teamo::test
