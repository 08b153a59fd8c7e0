// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/napi_threads.h"

#include "kernel/sysfs.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

namespace teamo {
namespace {

// As many CPUs as no kernel is built for more (base/cpu_list.cpp).
constexpr unsigned cpu_limit = 8192;
using Sets = std::array<cpu_set_t, cpu_limit / CPU_SETSIZE>;

void give(QueueVectors& queue, pid_t thread) {
    if (queue.thread && queue.thread->pid == thread) return;
    if (auto affinity = read_thread_affinity(thread))
        (queue.thread ? queue.second_thread : queue.thread) =
            NapiThread{.pid = thread, .affinity = std::move(*affinity)};
}

/// True if the netdev family tells of any.
bool give_told(PortInterrupts& port, const NetdevQueues& told) {
    bool any = false;
    for (const bool receive : {true, false})
        for (const auto& queue : told.queues) {
            const auto napi = std::ranges::find(told.napis, queue.napi, &NetdevNapi::id);
            if (queue.receive != receive || napi == told.napis.end() || !napi->thread) continue;
            any = true;
            if (const auto group = std::ranges::find(port.queues, queue.queue, &QueueVectors::queue);
                group != port.queues.end())
                give(*group, *napi->thread);
        }
    return any;
}

/// The queue of each vector, by the vectors' numbers: of igb receive queues' come first.
std::vector<QueueVectors*> by_vector(PortInterrupts& port) {
    std::map<unsigned, QueueVectors*> queues;
    for (auto& queue : port.queues)
        for (const auto& vector : queue.vectors)
            queues.emplace(vector.irq, &queue);
    std::vector<QueueVectors*> list;
    for (const auto& [irq, queue] : queues)
        list.push_back(queue);
    return list;
}

/// By the number of their NAPI. A transmitting one of virtio's has the number 0 and is no queue's own
/// (NAPI_STATE_NO_BUSY_POLL).
std::map<unsigned, pid_t> named_threads(const std::string& name, const std::string& root) {
    std::map<unsigned, pid_t> threads;
    const auto prefix = "napi/" + name + "-";
    for (const auto pid : sysfs::numbers_in(root + "/proc")) {
        const auto comm = sysfs::first_line(fmt::format("{}/proc/{}/comm", root, pid));
        if (!comm.starts_with(prefix)) continue;
        unsigned napi = 0;
        const auto* end = comm.data() + comm.size();
        if (const auto [rest, error] = std::from_chars(comm.data() + prefix.size(), end, napi);
            error == std::errc{} && rest == end && napi != 0)
            threads.emplace(napi, static_cast<pid_t>(pid));
    }
    return threads;
}

} // namespace

void find_threads(PortInterrupts& port, const DeviceFolder& folder, const std::string& name,
                  const NetdevQueues& told, const std::string& root) {
    if (give_told(port, told)) return;
    // A look at every process only where threads are switched on.
    if (port.queues.empty() || sysfs::number(folder.net / "threaded").value_or(0) == 0) return;
    const auto threads = named_threads(name, root);
    std::vector<QueueVectors*> places;
    for (auto& queue : port.queues)
        places.push_back(&queue);
    if (threads.size() != places.size()) places = by_vector(port);
    if (threads.size() != places.size()) return;
    auto place = places.begin();
    for (const auto& [napi, thread] : threads)
        give(**place++, thread);
}

Result<CpuList> read_thread_affinity(pid_t thread) {
    Sets sets{};
    if (::sched_getaffinity(thread, sizeof sets, sets.data()) < 0)
        return fail_errno(errno, fmt::format("affinity of thread {}", thread));
    CpuList cpus;
    for (unsigned cpu = 0; cpu < cpu_limit; ++cpu)
        if (CPU_ISSET_S(cpu, sizeof sets, sets.data())) cpus.push_back(cpu);
    return cpus;
}

Result<> write_thread_affinity(pid_t thread, const CpuList& cpus) {
    Sets sets{};
    for (const auto cpu : cpus)
        if (cpu < cpu_limit) CPU_SET_S(cpu, sizeof sets, sets.data());
    if (::sched_setaffinity(thread, sizeof sets, sets.data()) < 0)
        return fail_errno(errno, fmt::format("affinity of thread {}", thread));
    return {};
}

} // namespace teamo
