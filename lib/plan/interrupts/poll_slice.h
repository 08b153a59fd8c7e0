// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <vector>

namespace teamo {

/// Ports that one poll reads: [begin, end).
struct PollSlice {
    std::size_t begin = 0, end = 0;
};

/// Each vector takes two reads of /proc, some 14 µs; a lost link must not wait for hundreds of them.
inline constexpr std::size_t vectors_at_once = 64;

/// The slice from port `next` on: whole ports until they have `vectors_at_once`, of `vectors` for each port.
/// From the first port again after the last, and if their number has shrunk.
inline PollSlice slice_of(const std::vector<std::size_t>& vectors, std::size_t next) {
    PollSlice slice{.begin = next < vectors.size() ? next : 0};
    slice.end = slice.begin;
    for (std::size_t sum = 0; slice.end < vectors.size() && sum < vectors_at_once; ++slice.end)
        sum += vectors[slice.end];
    return slice;
}

} // namespace teamo
