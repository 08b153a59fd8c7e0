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

std::map<unsigned, pid_t> told_threads(const NetdevQueues& told) {
    std::map<unsigned, pid_t> threads;
    for (const bool receive : {true, false})
        for (const auto& queue : told.queues)
            if (const auto napi = std::ranges::find(told.napis, queue.napi, &NetdevNapi::id);
                queue.receive == receive && napi != told.napis.end() && napi->thread)
                threads.emplace(queue.queue, *napi->thread);
    return threads;
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
    const auto give = [](QueueVectors& queue, pid_t thread) {
        if (auto affinity = read_thread_affinity(thread))
            queue.thread = NapiThread{.pid = thread, .affinity = std::move(*affinity)};
    };
    if (const auto threads = told_threads(told); !threads.empty()) {
        for (auto& queue : port.queues)
            if (const auto found = threads.find(queue.queue); found != threads.end())
                give(queue, found->second);
        return;
    }
    // A look at every process only where threads are switched on.
    if (port.queues.empty() || sysfs::number(folder.net / "threaded").value_or(0) == 0) return;
    const auto threads = named_threads(name, root);
    if (threads.size() != port.queues.size()) return;
    auto queue = port.queues.begin();
    for (const auto& [napi, thread] : threads)
        give(*queue++, thread);
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
