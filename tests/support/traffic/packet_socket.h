// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Sends and receives frames on one device, below all protocols.
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
    Bytes frame;                         ///< starts with the destination address; without the VLAN tag
    std::optional<std::uint16_t> tag;    ///< TCI of the removed tag (PACKET_AUXDATA)
    bool outgoing = false;               ///< sent by this host through the device
    bool to_other_host = false;          ///< addressed to another host
    std::chrono::nanoseconds arrival{0}; ///< the kernel's timestamp
};

class PacketSocket {
public:
    static constexpr std::uint16_t everything = 3; // ETH_P_ALL

    /// Binds to the device and, unless `everything`, to one EtherType. With an EtherType the socket only gets
    /// what passes the ingress hook; with `everything` also what is dropped there.
    PacketSocket(const NetNs& in, std::string_view device, std::uint16_t ethertype = everything);

    /// Sends one complete frame; throws SetupError if the kernel refuses it.
    void send(const Bytes& frame) const;
    /// The next frame, or none within `patience`.
    std::optional<Seen> receive(milliseconds patience) const;
    /// Receives frames until this many have arrived, then further ones until none arrives for `silence`.
    std::vector<Seen> drain(std::size_t expected, milliseconds silence = 100ms) const;
    /// Waits for a matching frame and discards others.
    std::optional<Seen> await(const std::function<bool(const Seen&)>& wanted,
                              milliseconds patience = long_enough) const;
    /// Keeps the device in promiscuous mode while this socket exists.
    void be_promiscuous() const;

private:
    UniqueFd socket_;
    int index_;
};

} // namespace teamo::test
