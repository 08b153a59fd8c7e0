// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/cpus/thread_affinity.h"

#include <sched.h>

#include <array>

namespace teamo {
namespace {

constexpr unsigned cpu_limit = 8192; // the largest CONFIG_NR_CPUS; cpu_set_t has 1024
using Sets = std::array<cpu_set_t, cpu_limit / CPU_SETSIZE>;

} // namespace

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
    if (::sched_setaffinity(thread, sizeof sets, sets.data()) == 0) return {};
    const int error = errno;
    const auto what = fmt::format("thread {} cannot run on CPU {}", thread, text_of(cpus));
    if (error == EINVAL)
        return fail(EINVAL, what + ": its cpuset has none of them, or the kernel does not allow it to move");
    return fail_errno(error, what);
}

} // namespace teamo
