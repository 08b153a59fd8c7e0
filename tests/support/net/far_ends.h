// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "support/net/cabling.h"
#include "support/traffic/packet_socket.h"

#include <cstdint>
#include <vector>

namespace teamo::test {

/// Listens at the far ends of all cables at once.
class FarEnds {
public:
    explicit FarEnds(const Cabling& wires, std::uint16_t ethertype = PacketSocket::everything);

    /// By cable, the first one's at 0: the frames like that until so many have come by all of them together,
    /// and what comes after them until none does for `silence`. The others are thrown away.
    std::vector<std::vector<Seen>> drain(
        std::size_t expected,
        const std::function<bool(const Seen&)>& wanted = [](const Seen&) { return true; },
        milliseconds silence = 100ms) const;

private:
    std::vector<PacketSocket> sockets_;
};

} // namespace teamo::test
