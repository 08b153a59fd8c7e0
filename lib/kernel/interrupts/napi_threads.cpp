// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/interrupts/napi_threads.h"

#include "base/whole_number.h"
#include "kernel/cpus/thread_affinity.h"
#include "kernel/files/sysfs.h"
#include "kernel/interrupts/vector_names.h"

#include <algorithm>
#include <array>
#include <map>

namespace teamo {
namespace {

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
    // By IRQ number: igb's receive vectors come first.
    std::map<unsigned, std::pair<std::string, QueueVectors*>> vectors;
    for (auto& queue : port.queues)
        for (const auto& vector : queue.vectors)
            vectors[vector.irq] = {vector.name, &queue};
    for (const auto& vector : port.others)
        vectors[vector.irq] = {vector.name, nullptr};
    std::vector<std::string> names;
    for (const auto& [irq, vector] : vectors)
        names.push_back(vector.first);
    const auto roles = roles_of(names, device_names);
    Places by_vector;
    std::map<unsigned, QueueVectors*> by_queue; // by the number in the name
    auto role = roles.begin();
    for (const auto& [irq, vector] : vectors) {
        if (const auto one = *role++; one.kind == VectorRole::Kind::queue) {
            by_vector.push_back(vector.second);
            by_queue.emplace(one.queue, vector.second);
        }
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

/// Threads by NAPI number. virtio's transmit NAPIs have the number 0 (NAPI_STATE_NO_BUSY_POLL) and are left
/// out.
std::map<unsigned, pid_t> named_threads(const std::string& name, const std::string& root) {
    std::map<unsigned, pid_t> threads;
    const auto prefix = "napi/" + name + "-";
    for (const auto pid : sysfs::numbers_in(root + "/proc")) {
        const auto comm = sysfs::first_line(fmt::format("{}/proc/{}/comm", root, pid));
        if (!comm.starts_with(prefix)) continue;
        const auto napi = whole_number<unsigned>(std::string_view(comm).substr(prefix.size()));
        if (napi && *napi != 0) threads.emplace(*napi, static_cast<pid_t>(pid));
    }
    return threads;
}

} // namespace

void find_threads(PortInterrupts& port, const DeviceFolder& folder, const std::string& name,
                  const NetdevQueues& netdev_queues, const std::string& root) {
    if (assign_reported_threads(port, netdev_queues)) return;
    // Scan all processes only if threaded NAPI is on.
    if (port.queues.empty() || sysfs::number(folder.net / "threaded").value_or(0) == 0) return;
    const auto threads = named_threads(name, root);
    const std::array<std::string, 2> device_names{name, folder.device.filename().string()};
    const auto places = places_of(port, device_names, threads.size());
    if (places.empty()) return;
    auto place = places.begin();
    for (const auto& [napi, thread] : threads)
        if (auto* queue = *place++) assign_thread(*queue, thread);
}

} // namespace teamo
