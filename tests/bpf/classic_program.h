// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/bytes.h"
#include "support/eventually.h"
#include "support/net/net_ns.h"

#include <linux/filter.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace teamo::test {

/// What the kernel's own classic BPF returns for a packet, its lowest byte: the program filters a unix
/// socket, and how much it leaves of the packet tells. A VLAN tag stays in the packet's bytes.
std::uint32_t low_byte_by_kernel(const std::vector<sock_filter>& program, const Bytes& packet);

/// The bucket by the program that the team driver gets.
std::uint32_t classic_bucket_of(const Bytes& packet, std::uint32_t hash_fields);

/// The same by packets that arrive over a veth pair: the program filters an AF_PACKET socket on its far end,
/// where the kernel has taken a first VLAN tag out of the packet and put it beside.
class FilteredWire {
public:
    FilteredWire();
    /// How much of the frame the program leaves: what it returns, where the frame is longer. None where the
    /// frame does not come: the program returned 0.
    std::optional<std::size_t> left_by(const std::vector<sock_filter>& program, const Bytes& frame,
                                       milliseconds patience = 500ms);
    /// The lowest byte that the program returns.
    std::uint32_t low_byte(const std::vector<sock_filter>& program, const Bytes& frame);
    /// Whether the last frame's tag stood beside it.
    bool tag_was_beside() const { return tag_beside_; }

private:
    NetNs ns_ = NetNs::create();
    UniqueFd near_, far_;
    bool tag_beside_ = false;
};

} // namespace teamo::test
