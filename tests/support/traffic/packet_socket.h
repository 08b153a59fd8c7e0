// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Frames into and out of one device, below every protocol.
#pragma once

#include "base/bytes.h"
#include "support/eventually.h"
#include "support/net/net_ns.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace teamo::test {

struct Seen {
    Bytes frame;                         ///< from the destination address; a VLAN tag is taken out of it
    std::optional<std::uint16_t> tag;    ///< TCI of the tag taken out (PACKET_AUXDATA)
    bool outgoing = false;               ///< sent by this host through the device
    bool to_other_host = false;          ///< addressed to somebody else
    std::chrono::nanoseconds arrival{0}; ///< by the kernel's clock, whoever read it when
};

class PacketSocket {
public:
    static constexpr std::uint16_t everything = 3; // ETH_P_ALL

    /// Bound to the device and, unless `everything`, to one EtherType: such a socket gets only what the
    /// stack above the ingress hook gets, one for everything also what is dropped there.
    PacketSocket(const NetNs& in, std::string_view device, std::uint16_t ethertype = everything);

    /// Sends one whole frame; throws SetupError where the kernel refuses it.
    void send(const Bytes& frame) const;
    /// The next frame, or none within `patience`.
    std::optional<Seen> receive(milliseconds patience) const;
    /// All frames until so many have come, and what comes after them until none does for `silence`.
    std::vector<Seen> drain(std::size_t expected, milliseconds silence = 100ms) const;
    /// Waits for a frame like that; the others are thrown away.
    std::optional<Seen> await(const std::function<bool(const Seen&)>& wanted,
                              milliseconds patience = long_enough) const;
    /// Asks the device for promiscuous mode as long as this socket is there.
    void be_promiscuous() const;

private:
    UniqueFd socket_;
    int index_;
};

} // namespace teamo::test
