// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/bucket_counters.h"

#include "datapath/bpf/abi.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <vector>

namespace teamo {

Result<BucketCounters> read_bucket_counters(int map, std::uint8_t bucket) {
    const int cpus = libbpf_num_possible_cpus();
    if (cpus < 0) return fail_errno(-cpus, "cannot read the number of CPUs");
    std::vector<teamo_bucket_counters> each(static_cast<std::size_t>(cpus));
    const std::uint32_t key = bucket;
    if (bpf_map_lookup_elem(map, &key, each.data()) < 0) return fail_errno(errno, "cannot read a BPF map");
    BucketCounters sum;
    for (const auto& cpu : each) {
        sum.bytes += cpu.bytes;
        sum.packets += cpu.packets;
        sum.gso_bytes += cpu.gso_bytes;
    }
    return sum;
}

} // namespace teamo
