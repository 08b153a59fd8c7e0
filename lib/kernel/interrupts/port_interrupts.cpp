// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/interrupts/port_interrupts.h"

#include "kernel/cpus/thread_affinity.h"
#include "kernel/files/device_folder.h"
#include "kernel/files/sysfs.h"
#include "kernel/interrupts/napi_threads.h"
#include "kernel/interrupts/vector_groups.h"
#include "kernel/interrupts/vector_list.h"

#include <array>

namespace teamo {
namespace {

namespace fs = std::filesystem;

/// The masks of queues 0 to `count` - 1. Empty if the first queue has none (ENOENT for a single transmit
/// queue).
std::vector<CpuList> read_masks(const fs::path& queues, const char* kind, unsigned count, const char* file) {
    std::vector<CpuList> masks;
    for (unsigned queue = 0; queue < count; ++queue) {
        const auto cpus =
            parse_cpu_mask(sysfs::first_line(queues / fmt::format("{}-{}", kind, queue) / file));
        if (!cpus && queue == 0) return {};
        masks.push_back(cpus.value_or(CpuList()));
    }
    return masks;
}

} // namespace

Result<PortInterrupts> read_port_interrupts(const Link& link, const NetdevQueues& netdev_queues,
                                            const std::string& root) {
    const auto folder = TEAMO_TRY(find_device_folder(link, root));
    const auto queues = folder.net / "queues";
    PortInterrupts port;
    port.receive_queues = static_cast<unsigned>(sysfs::numbers_in(queues, "rx-").size());
    port.transmit_queues = static_cast<unsigned>(sysfs::numbers_in(queues, "tx-").size());
    port.xps = read_masks(queues, "tx", port.transmit_queues, "xps_cpus");
    port.rps = read_masks(queues, "rx", port.receive_queues, "rps_cpus");
    if (folder.device.empty()) return port;
    port.node = static_cast<int>(sysfs::number(folder.bus / "numa_node").value_or(-1));
    std::vector<unsigned> known;
    for (const auto& napi : netdev_queues.napis)
        if (napi.irq) known.push_back(*napi.irq);
    const std::array<std::string, 2> device_names{link.name, folder.device.filename().string()};
    group_vectors(port, list_vectors(folder, link.name, known, root), netdev_queues, device_names);
    find_threads(port, folder, link.name, netdev_queues, root);
    return port;
}

Result<> refresh(PortInterrupts& port, const std::string& root) {
    for (auto& queue : port.queues) {
        for (auto& vector : queue.vectors)
            TEAMO_TRY(refresh(vector, root));
        for (auto* thread : {&queue.thread, &queue.second_thread}) {
            if (!*thread) continue;
            auto affinity = read_thread_affinity((*thread)->pid);
            if (!affinity) return fail(ESTALE, std::move(affinity.error().text));
            (*thread)->affinity = std::move(*affinity);
        }
    }
    for (auto& vector : port.others)
        TEAMO_TRY(refresh(vector, root));
    return {};
}

CpuList interrupt_cpus(const PortInterrupts& port) {
    std::vector<const IrqVector*> serving;
    for (const auto& queue : port.queues)
        for (const auto& vector : queue.vectors)
            serving.push_back(&vector);
    if (serving.empty())
        for (const auto& vector : port.others)
            serving.push_back(&vector);
    // A virtio device has vectors for unused queues, and the effective affinity of an idle vector stays old
    // after its affinity has changed.
    const auto has_fired = [](const IrqVector* vector) { return vector->count > 0; };
    const bool any = std::ranges::any_of(serving, has_fired);
    CpuList cpus;
    for (const auto* vector : serving)
        if (!any || has_fired(vector))
            cpus = united(std::move(cpus), vector->effective.empty() ? vector->affinity : vector->effective);
    return cpus;
}

} // namespace teamo
