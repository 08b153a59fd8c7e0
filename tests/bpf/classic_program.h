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

/// The lowest byte that the kernel's classic BPF returns for a packet: the program filters a unix socket, and
/// the received length shows the value. A VLAN tag stays in the packet's bytes.
std::uint32_t low_byte_by_kernel(const std::vector<sock_filter>& program, const Bytes& packet);

/// The bucket by the program that we give to the team driver.
std::uint32_t classic_bucket_of(const Bytes& packet, std::uint32_t hash_fields);

/// The same by packets that arrive over a veth pair: the program filters an AF_PACKET socket on its far end,
/// where the kernel has moved the first VLAN tag out of the packet into its metadata.
class FilteredWire {
public:
    FilteredWire();
    /// How many bytes of the frame the program leaves: its return value, if the frame is longer. None if the
    /// frame does not arrive: the program returned 0.
    std::optional<std::size_t> left_by(const std::vector<sock_filter>& program, const Bytes& frame,
                                       milliseconds patience = 500ms);
    /// The lowest byte that the program returns.
    std::uint32_t low_byte(const std::vector<sock_filter>& program, const Bytes& frame);
    /// Whether the last frame's tag was in the metadata.
    bool tag_was_beside() const { return tag_beside_; }

private:
    NetNs ns_ = NetNs::create();
    UniqueFd near_, far_;
    bool tag_beside_ = false;
};

} // namespace teamo::test
