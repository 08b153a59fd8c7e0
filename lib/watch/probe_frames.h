// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The frames of the ping watches as bytes. Reading accepts any bytes.
#pragma once

#include "base/frames.h"

#include <optional>
#include <span>

namespace teamo {

/// Asks who has `target` (RFC 826; RFC 5227 if `from` is 0.0.0.0).
Bytes arp_probe(const FrameSource& source, const IpAddress& from, const IpAddress& target);

/// A neighbour solicitation for `target` (RFC 4861, 4.3). `from`: the unspecified address, or one of ours.
Bytes neighbour_probe(const FrameSource& source, const IpAddress& from, const IpAddress& target);

/// A frame of ARP: who says it, and of whom.
struct ArpMessage {
    bool is_reply = false;
    IpAddress sender, target;
    bool operator==(const ArpMessage&) const = default;
};
/// `frame`: without a VLAN tag. None: it is no ARP of Ethernet and IPv4.
std::optional<ArpMessage> parse_arp(std::span<const std::byte> frame);

/// A neighbour solicitation or advertisement: of which address.
struct NeighbourMessage {
    bool is_advertisement = false;
    IpAddress target;
    bool operator==(const NeighbourMessage&) const = default;
};
/// `frame`: without a VLAN tag. None: it is no valid one (RFC 4861, 7.1).
std::optional<NeighbourMessage> parse_neighbour(std::span<const std::byte> frame);

} // namespace teamo
