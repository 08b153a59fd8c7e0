// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/bytes.h"

#include <linux/filter.h>

#include <cstdint>
#include <vector>

namespace teamo::test {

/// What the kernel's own classic BPF returns for a packet, its lowest byte: the program filters a socket, and
/// is asked bit by bit whether it lets the packet pass.
std::uint32_t low_byte_by_kernel(const std::vector<sock_filter>& program, const Bytes& packet);

/// The bucket by the program that the team driver gets.
std::uint32_t classic_bucket_of(const Bytes& packet, std::uint32_t hash_fields);

} // namespace teamo::test
