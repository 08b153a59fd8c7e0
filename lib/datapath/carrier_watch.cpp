// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/carrier_watch.h"

#include "base/handle.h"
#include "carrier.skel.h"
#include "datapath/bpf/abi.h"
#include "kernel/bpf/load_program.h"
#include "kernel/files/files.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <algorithm>
#include <vector>

namespace teamo {
namespace {

using Skeleton = Handle<teamo_carrier, teamo_carrier__destroy>;
using Ring = Handle<ring_buffer, ring_buffer__free>;

int take_record(void* context, void* data, std::size_t /*size*/) noexcept {
    const auto* record = static_cast<const teamo_carrier_record*>(data);
    auto* changes = static_cast<CarrierWatch::Changes*>(context);
    (record->lost != 0 ? changes->lost : changes->back).insert(IfIndex{record->ifindex});
    return 0;
}

} // namespace

struct CarrierWatch::Programs {
    Skeleton skeleton;
    Changes changes; ///< filled by take_record()
    Ring ring;
    std::set<IfIndex> watched;
    int map() const { return bpf_map__fd(skeleton->maps.teamo_watched); }
};

CarrierWatch::CarrierWatch(std::unique_ptr<Programs> programs) : programs_(std::move(programs)) {}
CarrierWatch::CarrierWatch(CarrierWatch&&) noexcept = default;
CarrierWatch& CarrierWatch::operator=(CarrierWatch&&) noexcept = default;
CarrierWatch::~CarrierWatch() = default;

Result<CarrierWatch> CarrierWatch::open() {
    auto programs = std::make_unique<Programs>();
    auto& skeleton = programs->skeleton;
    skeleton.reset(teamo_carrier__open());
    if (!skeleton) return fail_errno(errno, "cannot open the BPF programs for carrier events");
    // The kernel's inode number has 32 bits (struct ns_common).
    skeleton->rodata->teamo_network_namespace = static_cast<std::uint32_t>(network_namespace());
    TEAMO_TRY(load_programs("the BPF programs for carrier events",
                            [&] { return teamo_carrier__load(skeleton.get()); }));
    if (const int error = teamo_carrier__attach(skeleton.get()); error < 0)
        return fail_errno(-error, "the kernel does not allow tracing of netif_carrier_off()");
    programs->ring.reset(ring_buffer__new(bpf_map__fd(skeleton->maps.teamo_carrier_events), take_record,
                                          &programs->changes, nullptr));
    if (!programs->ring) return fail_errno(errno, "cannot create the ring buffer for carrier events");
    return CarrierWatch(std::move(programs));
}

Result<> CarrierWatch::watch(const std::set<IfIndex>& ports) {
    auto& watched = programs_->watched;
    std::vector<IfIndex> removed, added;
    std::ranges::set_difference(watched, ports, std::back_inserter(removed));
    std::ranges::set_difference(ports, watched, std::back_inserter(added));
    for (const auto port : removed) {
        if (bpf_map_delete_elem(programs_->map(), &port.value) < 0 && errno != ENOENT)
            return fail_errno(errno, "cannot write a BPF map");
        watched.erase(port);
    }
    for (const auto port : added) {
        const std::uint8_t yes = 1;
        if (bpf_map_update_elem(programs_->map(), &port.value, &yes, BPF_ANY) < 0)
            return fail_errno(errno, "cannot write a BPF map");
        watched.insert(port);
    }
    return {};
}

int CarrierWatch::fd() const { return ring_buffer__epoll_fd(programs_->ring.get()); }

CarrierWatch::Changes CarrierWatch::receive() {
    ring_buffer__consume(programs_->ring.get());
    auto changes = std::exchange(programs_->changes, {});
    for (const auto port : changes.lost)
        changes.back.erase(port);
    return changes;
}

} // namespace teamo
