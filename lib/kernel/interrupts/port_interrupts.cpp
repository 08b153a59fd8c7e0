// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A PCI device lists its vectors in DEVICE/msi_irqs, a virtio device in that of its PCI device. Vectors can
// exist there before a driver requests them. /proc/irq/N has a folder for each handler, by name: a vector
// without one is unused, and the vectors of devices without msi_irqs are found by handler name.
#include "kernel/interrupts/port_interrupts.h"

#include "kernel/cpus/cpus.h"
#include "kernel/files/files.h"
#include "kernel/interrupts/vector_groups.h"
#include "kernel/interrupts/vector_names.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>

namespace teamo {
namespace {

namespace fs = std::filesystem;

/// An interrupt and its handlers' names: several if devices share a line.
struct Interrupt {
    unsigned number = 0;
    std::vector<std::string> handlers;
};

fs::path folder_of(const std::string& root, unsigned irq) {
    return fs::path(root + "/proc/irq") / std::to_string(irq);
}

std::vector<Interrupt> with_handlers(std::span<const unsigned> numbers, const std::string& root) {
    std::vector<Interrupt> list;
    for (const auto number : numbers)
        if (auto handlers = sysfs::names_in(folder_of(root, number), true); !handlers.empty())
            list.push_back({.number = number, .handlers = std::move(handlers)});
    return list;
}

/// The first handler that meets the condition; "" if there is none.
template <class Condition>
std::string handler_of(const Interrupt& interrupt, Condition condition) {
    const auto found = std::ranges::find_if(interrupt.handlers, condition);
    return found == interrupt.handlers.end() ? std::string() : *found;
}

/// Reads affinities and count of a vector whose number and name are set. ENOENT: the interrupt no longer
/// exists; ESTALE: it no longer has that handler.
Result<> refresh_vector(IrqVector& vector, const std::string& root) {
    const auto folder = folder_of(root, vector.irq);
    std::error_code error;
    if (!fs::is_directory(folder / vector.name, error)) {
        if (!fs::is_directory(folder, error))
            return fail(ENOENT, fmt::format("interrupt {} no longer exists", vector.irq));
        return fail(ESTALE,
                    fmt::format("interrupt {} no longer has the handler {}", vector.irq, vector.name));
    }
    vector.affinity = sysfs::cpus(folder / "smp_affinity_list").value_or(CpuList());
    // Empty if the kernel or the interrupt controller does not report it.
    vector.effective = sysfs::cpus(folder / "effective_affinity_list").value_or(CpuList());
    // One count for each CPU: "0,17,0".
    const auto counts = sysfs::numbers_of(
        sysfs::first_line(root + "/sys/kernel/irq/" + std::to_string(vector.irq) + "/per_cpu_count"));
    vector.count = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
    return {};
}

IrqVector vector_of(const Interrupt& interrupt, std::string name, const std::string& root) {
    const auto folder = folder_of(root, interrupt.number);
    IrqVector vector;
    vector.irq = interrupt.number;
    vector.name = std::move(name);
    // The file of a managed vector is read-only from 6.12 on; before, only a write shows it (EIO).
    std::error_code error;
    const auto mode = fs::status(folder / "smp_affinity_list", error).permissions();
    constexpr auto writable = fs::perms::owner_write | fs::perms::group_write | fs::perms::others_write;
    vector.movable = error || (mode & writable) != fs::perms::none;
    static_cast<void>(refresh_vector(vector, root));
    return vector;
}

/// By dev_port, which mlx4 sets (Documentation/ABI/testing/sysfs-class-net). Representors of virtual
/// functions have no dev_port of their own.
bool has_several_ports(const fs::path& network_devices) {
    std::set<std::uint64_t> numbers;
    for (const auto& name : sysfs::names_in(network_devices, true))
        numbers.insert(
            static_cast<std::uint64_t>(sysfs::number(network_devices / name / "dev_port").value_or(0)));
    return numbers.size() > 1;
}

void assign_thread(QueueVectors& queue, pid_t thread) {
    if (queue.thread && queue.thread->pid == thread) return;
    if (auto affinity = read_thread_affinity(thread))
        (queue.thread ? queue.second_thread : queue.thread) =
            NapiThread{.pid = thread, .affinity = std::move(*affinity)};
}

/// True if the netdev family reports any thread.
bool assign_reported_threads(PortInterrupts& port, const NetdevQueues& netdev_queues) {
    bool any = false;
    for (const bool receive : {true, false})
        for (const auto& queue : netdev_queues.queues) {
            const auto napi = std::ranges::find(netdev_queues.napis, queue.napi, &NetdevNapi::id);
            if (queue.receive != receive || napi == netdev_queues.napis.end() || !napi->thread) continue;
            any = true;
            if (const auto group = std::ranges::find(port.queues, queue.queue, &QueueVectors::queue);
                group != port.queues.end())
                assign_thread(*group, *napi->thread);
        }
    return any;
}

using Places = std::vector<QueueVectors*>; ///< null: a queue that is not in use but has a NAPI

/// The queue of each thread, in the order of NAPI numbers. Drivers create one NAPI for each queue (virtio:
/// for each receive queue) or for each vector of a queue (igb), including unused ones. Empty if `threads`
/// matches neither.
Places places_of(PortInterrupts& port, std::span<const std::string> device_names, std::size_t threads) {
    std::map<unsigned, QueueVectors*> queues; // by IRQ number
    for (auto& queue : port.queues)
        for (const auto& vector : queue.vectors)
            queues[vector.irq] = &queue;
    auto vectors = vectors_of(port);
    vectors.insert(vectors.end(), port.spare.begin(), port.spare.end());
    std::ranges::sort(vectors, {}, &IrqVector::irq); // igb's receive vectors come first
    const auto roles = roles_of(vectors, device_names);
    Places by_vector;
    std::map<unsigned, QueueVectors*> by_queue; // by the number in the name
    for (std::size_t at = 0; at < vectors.size(); ++at) {
        if (roles[at].kind != VectorRole::Kind::queue) continue;
        by_vector.push_back(queues[vectors[at].irq]);
        by_queue.emplace(roles[at].queue, by_vector.back());
    }
    if (threads == by_queue.size()) {
        Places places;
        for (const auto& [number, queue] : by_queue)
            places.push_back(queue);
        return places;
    }
    if (threads == by_vector.size()) return by_vector;
    // The names have no queue numbers: one thread for the only group.
    if (by_vector.empty() && threads == 1 && port.queues.size() == 1) return {port.queues.data()};
    return {};
}

/// Threads by NAPI number.
std::map<unsigned, pid_t> named_threads(const std::string& name, const std::string& root) {
    std::map<unsigned, pid_t> threads;
    for (const auto pid : sysfs::numbers_in(root + "/proc")) {
        const auto napi = napi_of_thread(sysfs::first_line(fmt::format("{}/proc/{}/comm", root, pid)), name);
        if (napi) threads.emplace(*napi, static_cast<pid_t>(pid));
    }
    return threads;
}

/// Sets the thread of each queue of the port: as the netdev family reports it, otherwise by the threads'
/// names, "napi/eth0-8197". The numbers rise in the order of the queues, so names are used only if there are
/// as many threads as queues.
void find_threads(PortInterrupts& port, const DeviceFolder& folder, std::span<const std::string> device_names,
                  const NetdevQueues& netdev_queues, const std::string& root) {
    if (assign_reported_threads(port, netdev_queues)) return;
    // Scan all processes only if threaded NAPI is on.
    if (port.queues.empty() || sysfs::number(folder.net / "threaded").value_or(0) == 0) return;
    const auto threads = named_threads(device_names.front(), root);
    port.hidden_threads = threads.empty();
    const auto places = places_of(port, device_names, threads.size());
    if (places.empty()) return;
    auto place = places.begin();
    for (const auto& [napi, thread] : threads)
        if (auto* queue = *place++) assign_thread(*queue, thread);
}

/// The masks of queues 0 to `count` - 1. Empty if the first queue has none (ENOENT for a single transmit
/// queue).
std::vector<CpuList> read_masks(const fs::path& queues, const char* kind, unsigned count, const char* file) {
    std::vector<CpuList> masks;
    for (unsigned queue = 0; queue < count; ++queue) {
        const auto cpus = sysfs::cpu_mask(queues / fmt::format("{}-{}", kind, queue) / file);
        if (!cpus && queue == 0) return {};
        masks.push_back(cpus.value_or(CpuList()));
    }
    return masks;
}

} // namespace

std::vector<IrqVector> list_vectors(const DeviceFolder& folder, const std::string& name,
                                    std::span<const unsigned> known, const std::string& root) {
    std::vector<IrqVector> vectors;
    if (folder.device.empty()) return vectors;
    const auto device = folder.device.filename().string();
    const auto by_name = [&](const std::string& handler) {
        return is_named_after(handler, name) || is_named_after(handler, device);
    };
    const auto add = [&](const Interrupt& one, std::string handler) {
        if (!handler.empty()) vectors.push_back(vector_of(one, std::move(handler), root));
    };
    const auto numbers = sysfs::numbers_in(folder.bus / "msi_irqs");
    const auto listed = with_handlers(numbers, root);
    // While a card is down none has a handler, and after a rename its name may be that of another's handlers.
    if (numbers.empty())
        for (const auto& one : with_handlers(sysfs::numbers_in(root + "/proc/irq"), root))
            add(one, handler_of(one, by_name));
    const auto own = [&](const std::string& handler) { return handler.find(name) != std::string::npos; };
    // If ports share a PCI function, a vector without the port's name counts only if it is in `known`.
    const bool shared =
        has_several_ports(folder.device / "net") ||
        (sysfs::names_in(folder.device / "net").size() > 1 &&
         std::ranges::any_of(listed, [&](const Interrupt& one) { return !handler_of(one, own).empty(); }));
    const auto is_own_handler = [&](const std::string& handler) {
        return shared ? own(handler) : by_name(handler);
    };
    for (const auto& one : listed) {
        const auto handler = handler_of(one, is_own_handler);
        add(one, handler.empty() && !shared ? one.handlers.front() : handler);
    }
    for (const auto irq : known)
        if (std::ranges::find(vectors, irq, &IrqVector::irq) == vectors.end())
            for (const auto& one : with_handlers(std::span(&irq, 1), root))
                add(one, one.handlers.front());
    std::ranges::sort(vectors, {}, &IrqVector::irq);
    return vectors;
}

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
    find_threads(port, folder, device_names, netdev_queues, root);
    return port;
}

Result<> refresh(PortInterrupts& port, const std::string& root) {
    for (auto& queue : port.queues) {
        for (auto& vector : queue.vectors)
            TEAMO_TRY(refresh_vector(vector, root));
        for (auto* thread : {&queue.thread, &queue.second_thread}) {
            if (!*thread) continue;
            auto affinity = read_thread_affinity((*thread)->pid);
            if (!affinity) return fail(ESTALE, std::move(affinity.error().text));
            (*thread)->affinity = std::move(*affinity);
        }
    }
    for (auto& vector : port.others)
        TEAMO_TRY(refresh_vector(vector, root));
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
