// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <cerrno>
#include <cstdint>
#include <span>
#include <vector>

namespace teamo {

/// Reads the first `count` elements of a BPF_MAP_TYPE_PERCPU_ARRAY with one system call. `take` gets the
/// number of each element, and its value on each CPU.
template <class Value>
Result<> read_cpu_array(int map, std::uint32_t count, const auto& take) {
    const int possible = libbpf_num_possible_cpus();
    if (possible < 0) return fail_errno(-possible, "cannot read the number of CPUs");
    const auto cpus = static_cast<std::size_t>(possible);
    std::vector<Value> each(count * cpus);
    std::vector<std::uint32_t> keys(count);
    std::uint32_t next = 0;
    // ENOENT: the end of the map.
    if (bpf_map_lookup_batch(map, nullptr, &next, keys.data(), each.data(), &count, nullptr) < 0 &&
        errno != ENOENT)
        return fail_errno(errno, "cannot read a BPF map");
    for (std::size_t i = 0; i < count; ++i)
        take(keys[i], std::span<const Value>(each).subspan(i * cpus, cpus));
    return {};
}

} // namespace teamo
