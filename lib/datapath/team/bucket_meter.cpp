// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/team/bucket_meter.h"

#include "datapath/bpf/abi.h"
#include "datapath/programs/device_programs.h"
#include "kernel/bpf/cpu_array.h"
#include "kernel/bpf/load_program.h"
#include "meter.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <span>
#include <vector>

namespace teamo {

void BucketMeter::Destroy::operator()(teamo_meter* skeleton) const noexcept {
    teamo_meter__destroy(skeleton);
}

Result<BucketMeter> BucketMeter::open(IfIndex device, DevicePrograms& hooks) {
    BucketMeter meter(teamo_meter__open());
    auto* skeleton = meter.skeleton_.get();
    if (skeleton == nullptr)
        return fail_errno(errno, "cannot open the BPF program that counts packets by bucket");
    TEAMO_TRY(load_programs("the BPF program that counts packets by bucket",
                            [skeleton] { return teamo_meter__load(skeleton); }));
    TEAMO_TRY(hooks.attach(device, Hook::egress, Duty::meter, Order::first,
                           bpf_program__fd(skeleton->progs.teamo_meter)));
    return meter;
}

void BucketMeter::set_fields(HashFields fields) { skeleton_->bss->teamo_fields = fields; }

Result<BucketCounters> BucketMeter::read(std::uint8_t bucket) const {
    return read_bucket_counters(bpf_map__fd(skeleton_->maps.teamo_bucket_counters), bucket);
}

Result<AllBucketCounters> BucketMeter::read_all() const {
    return read_all_bucket_counters(bpf_map__fd(skeleton_->maps.teamo_bucket_counters));
}

namespace {

BucketCounters sum_of(std::span<const teamo_bucket_counters> each) {
    BucketCounters sum;
    for (const auto& cpu : each) {
        sum.bytes += cpu.bytes;
        sum.packets += cpu.packets;
        sum.gso_bytes += cpu.gso_bytes;
        sum.tcp_segments += cpu.tcp_segments;
        sum.tcp_again += cpu.tcp_again;
    }
    return sum;
}

} // namespace

Result<BucketCounters> read_bucket_counters(int map, std::uint8_t bucket) {
    const int cpus = libbpf_num_possible_cpus();
    if (cpus < 0) return fail_errno(-cpus, "cannot read the number of CPUs");
    std::vector<teamo_bucket_counters> each(static_cast<std::size_t>(cpus));
    const std::uint32_t key = bucket;
    if (bpf_map_lookup_elem(map, &key, each.data()) < 0) return fail_errno(errno, "cannot read a BPF map");
    return sum_of(each);
}

Result<AllBucketCounters> read_all_bucket_counters(int map) {
    AllBucketCounters all{};
    TEAMO_TRY(read_cpu_array<teamo_bucket_counters>(
        map, bucket_count, [&all](std::uint32_t bucket, std::span<const teamo_bucket_counters> each) {
            all[bucket % bucket_count] = sum_of(each);
        }));
    return all;
}

} // namespace teamo
