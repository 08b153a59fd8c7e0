// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/bucket_meter.h"

#include "base/handle.h"
#include "datapath/bucket_counters.h"
#include "kernel/netlink/traffic_control.h"
#include "meter.skel.h"

#include <bpf/libbpf.h>

namespace teamo {

struct BucketMeter::Program {
    Handle<teamo_meter, teamo_meter__destroy> skeleton;
};

BucketMeter::BucketMeter(std::unique_ptr<Program> program) : program_(std::move(program)) {}
BucketMeter::BucketMeter(BucketMeter&&) noexcept = default;
BucketMeter& BucketMeter::operator=(BucketMeter&&) noexcept = default;
BucketMeter::~BucketMeter() = default;

Result<BucketMeter> BucketMeter::open(IfIndex device) {
    auto program = std::make_unique<Program>();
    program->skeleton.reset(teamo_meter__open());
    if (!program->skeleton)
        return fail_errno(errno, "cannot open the BPF program that counts packets by bucket");
    if (const int error = teamo_meter__load(program->skeleton.get()); error < 0)
        return fail_errno(-error, "the kernel refuses to load the BPF program that counts packets by bucket");
    const int descriptor = bpf_program__fd(program->skeleton->progs.teamo_meter);
    TEAMO_TRY(attach_egress(device, descriptor));
    return BucketMeter(std::move(program));
}

void BucketMeter::set_fields(HashFields fields) { program_->skeleton->bss->teamo_fields = fields; }

Result<BucketCounters> BucketMeter::read(std::uint8_t bucket) const {
    return read_bucket_counters(bpf_map__fd(program_->skeleton->maps.teamo_bucket_counters), bucket);
}

} // namespace teamo
