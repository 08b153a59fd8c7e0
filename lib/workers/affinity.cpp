// SPDX-License-Identifier: LGPL-2.1-or-later
#include "workers/affinity.h"

#include "base/clock.h"
#include "base/handle.h"
#include "kernel/cpus/cpus.h"
#include "kernel/files/files.h"
#include "kernel/files/process_files.h"
#include "workers/processes.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <functional>

namespace teamo {
namespace {

std::optional<std::uint64_t> start_of(pid_t process, pid_t thread) {
    return read_start_time(fmt::format("/proc/{}/task/{}", process, thread));
}

/// A process, identified by a pidfd and its start time, because PIDs are reused.
struct Target {
    pid_t pid;
    UniqueFd process;

    bool is_alive() const {
        pollfd ended{.fd = process.get(), .events = POLLIN, .revents = 0};
        return ::poll(&ended, 1, 0) == 0;
    }
};

Result<Target> open_process(ProcessId id) {
    UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, id.pid, 0)));
    if (!process && errno != ESRCH) return fail_errno(errno, fmt::format("process {}", id.pid));
    // Read after pidfd_open, so the start time belongs to the process of the descriptor.
    const auto started = process ? read_start_time(fmt::format("/proc/{}", id.pid)) : std::nullopt;
    Target target{id.pid, std::move(process)};
    if (started == id.started) return target;
    if (!target.process || started || !target.is_alive())
        return fail(ESRCH, fmt::format("process {} is gone", id.pid));
    return fail(EACCES, fmt::format("process {}: /proc/{} cannot be read", id.pid, id.pid));
}

/// True if the kernel shows `set` as `now`: without CPUs that have gone offline.
bool is_shown_as(const CpuList& set, const CpuList& now) {
    if (now == set) return true;
    if (now.empty() || !std::ranges::includes(set, now)) return false;
    const auto online = read_online_cpus();
    return online && std::ranges::none_of(set, [&](unsigned cpu) {
               return std::ranges::binary_search(*online, cpu) && !std::ranges::binary_search(now, cpu);
           });
}

/// True if `now` is an affinity of ours. After an unfinished move it may be any part of `cpus`, because a
/// cpuset may have reduced it.
bool is_bound_by(const WorkerBinding& binding, const CpuList& now) {
    if (is_shown_as(binding.cpus, now)) return true;
    if (binding.leaving.empty()) return false;
    return is_shown_as(binding.leaving, now) || std::ranges::includes(binding.cpus, now);
}

/// Of these bindings that of the process's parent; nullptr: none is.
const WorkerBinding* binding_of_parent(pid_t process, std::span<const WorkerBinding> others) {
    const auto stat = others.empty() ? std::nullopt : read_process_stat(fmt::format("/proc/{}", process));
    const auto found =
        std::ranges::find_if(others, [&](const auto& one) { return stat && one.id.pid == stat->parent; });
    const bool is_parent =
        found != others.end() && read_start_time(fmt::format("/proc/{}", stat->parent)) == found->id.started;
    return is_parent ? &*found : nullptr;
}

/// What to give back to threads. Reads the machine's CPUs once, so make one for each process.
class FormerCpus {
public:
    FormerCpus(pid_t process, std::span<const WorkerBinding> others)
        : parent_(binding_of_parent(process, others)) {}

    /// Of a thread that may run on `now`. If nothing but its cpuset restricts it, these are all CPUs, since
    /// the kernel shows neither offline CPUs nor those that its cpuset may get later. The kernel removes what
    /// it cannot have.
    CpuList of(pid_t thread, const CpuList& now) {
        if (parent_ != nullptr && is_bound_by(*parent_, now)) return parent_->before;
        if (!online_ || (!std::ranges::includes(now, *online_) && now != cpusets_.of(thread))) return now;
        return united(now, possible_);
    }

private:
    const WorkerBinding* parent_;
    Result<CpuList> online_ = read_online_cpus();
    CpuList possible_ = sysfs::cpus("/sys/devices/system/cpu/possible").value_or(CpuList{});
    Cpusets cpusets_;
};

/// The affinity of each thread of a process.
std::map<pid_t, WorkerBinding::Thread> read_threads(pid_t process, FormerCpus& former) {
    std::map<pid_t, WorkerBinding::Thread> threads;
    for (const auto number : sysfs::numbers_in(fmt::format("/proc/{}/task", process))) {
        const auto thread = static_cast<pid_t>(number);
        const auto started = start_of(process, thread);
        auto affinity = read_thread_affinity(thread);
        if (started && affinity)
            threads[thread] = {.started = *started, .before = former.of(thread, *affinity)};
    }
    return threads;
}

/// Calls `step`, which returns true if it changed something, for all threads until two passes in a row change
/// nothing. New threads inherit the affinity of their creator: one pass can miss a thread that is created
/// between listing and setting.
Result<> for_all_threads(const Target& target, std::chrono::milliseconds patience,
                         const std::function<Result<bool>(pid_t)>& step) {
    constexpr int least_passes = 5;
    const auto start = Clock::now();
    for (int pass = 0, quiet = 0; pass < least_passes || Clock::now() - start < patience; ++pass) {
        if (!target.is_alive()) return fail(ESRCH, fmt::format("process {} is gone", target.pid));
        const auto threads = sysfs::numbers_in(fmt::format("/proc/{}/task", target.pid));
        if (threads.empty() && target.is_alive())
            return fail(EAGAIN, fmt::format("the threads of process {} cannot be read", target.pid));
        bool did = false;
        for (const auto thread : threads) {
            auto done = step(static_cast<pid_t>(thread));
            if (!done && done.error().number == ESRCH) continue;
            did = TEAMO_TRY(std::move(done)) || did;
        }
        quiet = did ? 0 : quiet + 1;
        if (quiet == 2) return {};
    }
    return fail(EAGAIN,
                fmt::format("process {} creates threads faster than their CPUs can be set", target.pid));
}

/// True if all CPUs of a binding are offline. The kernel has moved its threads to others, which it shows.
bool is_offline(const WorkerBinding& binding) {
    const auto online = read_online_cpus();
    return online && std::ranges::none_of(united(binding.cpus, binding.leaving),
                                          [&](unsigned cpu) { return contains(*online, cpu); });
}

/// Binds a thread of the process of `binding`, and notes its original affinity there. True if this changed
/// it.
Result<bool> bind_thread(pid_t thread, const CpuList& wanted, const WorkerBinding& earlier,
                         WorkerBinding& binding, FormerCpus& former, bool takes_back) {
    const auto now = TEAMO_TRY(read_thread_affinity(thread));
    // The first time it is set in any case: perhaps only its cpuset restricts it, and may be widened.
    const bool is_set = !earlier.cpus.empty() || binding.threads.contains(thread);
    if (is_set && now == binding.cpus) return false;
    const auto started = start_of(binding.id.pid, thread);
    if (!started) return false;
    const auto bound = earlier.threads.find(thread);
    const bool is_same = bound != earlier.threads.end() && bound->second.started == *started;
    if (is_same && !takes_back && now != wanted && !is_bound_by(earlier, now)) return false;
    TEAMO_TRY(write_thread_affinity(thread, wanted));
    auto shown = TEAMO_TRY(read_thread_affinity(thread));
    const auto known = binding.threads.find(thread);
    if (known == binding.threads.end() || known->second.started != *started) {
        // Bound by us before, or created by such a thread.
        const bool ours = earlier.cpus.empty() ? !binding.threads.empty() && now == binding.cpus
                                               : is_bound_by(earlier, now);
        const auto before = ours ? binding.before : former.of(thread, now);
        if (binding.before.empty()) binding.before = before;
        binding.threads[thread] = {.started = *started, .before = before};
    }
    const bool changed = shown != now;
    // A cpuset may have removed some CPUs. New threads inherit the result.
    binding.cpus = std::move(shown);
    return changed;
}

} // namespace

bool is_gone(ProcessId id) {
    const auto target = open_process(id);
    return !target && target.error().number == ESRCH;
}

Result<WorkerBinding> plan_binding(ProcessId id, const CpuList& cpus, std::span<const WorkerBinding> others) {
    TEAMO_TRY(open_process(id));
    const auto affinity = TEAMO_TRY(read_thread_affinity(id.pid));
    FormerCpus former(id.pid, others);
    return WorkerBinding{.id = id,
                         .cpus = cpus,
                         .leaving = affinity,
                         .before = former.of(id.pid, affinity),
                         .threads = read_threads(id.pid, former)};
}

Result<WorkerBinding> bind_process(ProcessId id, const CpuList& cpus, const WorkerBinding& earlier,
                                   std::chrono::milliseconds patience,
                                   std::span<const WorkerBinding> others) {
    if (cpus.empty()) return fail(EINVAL, "no CPUs given");
    const auto target = TEAMO_TRY(open_process(id));
    const auto present = earlier.id == id ? earlier : WorkerBinding{};
    auto wanted = cpus;
    std::ranges::sort(wanted);
    WorkerBinding binding{
        .id = id, .cpus = wanted, .leaving = {}, .before = present.before, .threads = present.threads};
    FormerCpus former(id.pid, others);
    const bool takes_back = drift_of(present).has_value() || is_offline(present);
    auto bound = for_all_threads(target, patience, [&](pid_t thread) {
        return bind_thread(thread, wanted, present, binding, former, takes_back);
    });
    // Forget threads that have ended: their numbers are reused.
    std::erase_if(binding.threads,
                  [&id](const auto& one) { return start_of(id.pid, one.first) != one.second.started; });
    if (bound) return binding;
    if (bound.error().number != ESRCH) {
        static_cast<void>(release_process(binding, patience));
        // Threads that were not reached still have the earlier binding.
        binding.cpus = present.cpus;
        if (!binding.cpus.empty()) static_cast<void>(release_process(binding, patience));
    }
    return within(fmt::format("process {}", id.pid), std::move(bound.error()));
}

Result<> release_process(const WorkerBinding& binding, std::chrono::milliseconds patience) {
    const auto free = [&binding, moved = is_offline(binding)](pid_t thread) -> Result<bool> {
        const auto now = TEAMO_TRY(read_thread_affinity(thread));
        if (!moved && !is_bound_by(binding, now)) return false;
        const auto known = binding.threads.find(thread);
        const bool noted =
            known != binding.threads.end() && start_of(binding.id.pid, thread) == known->second.started;
        const auto& before = noted ? known->second.before : binding.before;
        if (before.empty() || before == now) return false;
        TEAMO_TRY(write_thread_affinity(thread, before));
        const auto shown = read_thread_affinity(thread);
        return shown && *shown != now;
    };
    const auto target = open_process(binding.id);
    auto released =
        target ? for_all_threads(*target, patience, free) : Result<>(tl::unexpected(target.error()));
    if (!released && released.error().number != ESRCH)
        return within(fmt::format("process {}", binding.id.pid), std::move(released.error()));
    return {};
}

std::optional<CpuList> drift_of(const WorkerBinding& binding) {
    const auto now = read_thread_affinity(binding.id.pid);
    if (!now || is_bound_by(binding, *now) || is_offline(binding)) return std::nullopt;
    return *now;
}

// RFS is on if both tables have entries: the global one (net.core.rps_sock_flow_entries) and that of a
// receive queue (rps_flow_cnt) (Documentation/networking/scaling.rst).
std::string flow_steering_conflict(std::span<const std::string> ports, const std::string& root) {
    const auto entries = sysfs::number(root + "/proc/sys/net/core/rps_sock_flow_entries").value_or(0);
    if (entries == 0) return {};
    for (const auto& port : ports) {
        const auto queues = fmt::format("{}/sys/class/net/{}/queues", root, port);
        for (const auto& queue : sysfs::names_in(queues))
            if (const auto flows =
                    sysfs::number(fmt::format("{}/{}/rps_flow_cnt", queues, queue)).value_or(0);
                flows != 0)
                return fmt::format("RFS is on (net.core.rps_sock_flow_entries is {}, {} {} rps_flow_cnt {}): "
                                   "it moves packets to their process, which conflicts with binding workers",
                                   entries, port, queue, flows);
    }
    return {};
}

} // namespace teamo
