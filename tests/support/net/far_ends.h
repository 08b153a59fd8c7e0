// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "support/net/cabling.h"
#include "support/traffic/packet_socket.h"

#include <cstdint>
#include <vector>

namespace teamo::test {

/// Receives frames at the far ends of all cables.
class FarEnds {
public:
    explicit FarEnds(const Cabling& wires, std::uint16_t ethertype = PacketSocket::everything);

    /// Receives matching frames until this many have arrived by all cables together, then further ones until
    /// none arrives for `silence`. Returns them by cable, the first cable at index 0; discards other frames.
    std::vector<std::vector<Seen>> drain(
        std::size_t expected,
        const std::function<bool(const Seen&)>& wanted = [](const Seen&) { return true; },
        milliseconds silence = 100ms) const;

private:
    std::vector<PacketSocket> sockets_;
};

} // namespace teamo::test
