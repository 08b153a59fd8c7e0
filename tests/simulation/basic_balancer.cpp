// SPDX-License-Identifier: LGPL-2.1-or-later
#include "basic_balancer.h"

#include <algorithm>
#include <numeric>

namespace teamo::simulation {

BucketOwners basic_balancer(const BucketOwners& now, const std::array<double, bucket_count>& bytes,
                            const std::vector<Slot>& ports) {
    std::array<std::size_t, bucket_count> largest{};
    std::iota(largest.begin(), largest.end(), 0);
    std::ranges::stable_sort(largest, std::greater<>{},
                             [&bytes](std::size_t bucket) { return bytes[bucket]; });
    std::array<double, max_ports + 1> given{};
    BucketOwners owners = now;
    for (const auto bucket : largest) {
        if (bytes[bucket] <= 0 && now[bucket]) continue;
        const auto least =
            *std::ranges::min_element(ports, {}, [&given](Slot slot) { return given[slot.value]; });
        owners[bucket] = least;
        given[least.value] += bytes[bucket];
    }
    return owners;
}

} // namespace teamo::simulation
