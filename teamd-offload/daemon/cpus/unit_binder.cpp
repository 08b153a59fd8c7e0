// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/cpus/unit_binder.h"

#include "kernel/cpus/cpus.h"
#include "kernel/files/files.h"
#include "kernel/files/kernel_release.h"
#include "workers/processes.h"

#include <algorithm>

namespace teamo {
namespace {

using namespace std::chrono_literals;

/// After a failure systemd is not asked for so long: a request blocks the loop, and with it the links.
constexpr auto systemd_retry = 60s;

/// Whether it is the only process of its unit: AllowedCPUs= applies to all of them. `root`: of the unified
/// hierarchy, as last found; the list of mounts is long on a machine with containers.
bool is_alone(const Worker& worker, std::string& root) {
    if (!is_own_group(worker.cgroup, worker.unit)) return false;
    const auto read = [&](const char* file) {
        return read_file(fmt::format("{}{}/{}", root, worker.cgroup, file), 4096);
    };
    auto below = root.empty() ? fail(ENOENT, "") : read("cgroup.stat");
    if (!below) {
        root = find_unified_cgroup().value_or("");
        below = root.empty() ? fail(ENOENT, "") : read("cgroup.stat");
    }
    if (!below || parse_descendants(*below) != 0U) return false;
    const auto processes = read("cgroup.procs");
    return processes && std::ranges::count(*processes, '\n') == 1;
}

/// Whether a change of AllowedCPUs= leaves what sched_setaffinity() has set. Before, each thread gets the
/// whole cpuset (kernel/sched/core.c: user_cpus_ptr).
bool keeps_affinities() { return kernel_is_at_least(6, 2); }

bool runs_within(pid_t process, const CpuList& cpus) {
    const auto shown = read_thread_affinity(process);
    return shown && std::ranges::includes(cpus, *shown);
}

/// Restores the previous AllowedCPUs=, if the current one is ours.
Result<> undo(const UnitCpus& systemd, const std::string& unit, const UnitBinding& bound) {
    const auto now = TEAMO_TRY(systemd.read(unit));
    const bool ours = now == bound.cpus || (!bound.leaving.empty() && now == bound.leaving);
    return ours ? systemd.set(unit, bound.before) : Result<>{};
}

} // namespace

UnitBinder::UnitBinder()
    : UnitBinder(UnitCpus::open,
                 [keeps = keeps_affinities(), root = std::string()](const Worker& worker) mutable {
                     return keeps && is_alone(worker, root);
                 }) {}

UnitCpus* UnitBinder::bus() {
    if (!bus_ && Clock::now() >= retry_at_) {
        if (auto opened = open_())
            bus_ = std::move(*opened);
        else
            back_off();
    }
    return bus_ ? &*bus_ : nullptr;
}

void UnitBinder::back_off() {
    bus_.reset();
    retry_at_ = Clock::now() + systemd_retry;
}

Result<bool> UnitBinder::bind(const Worker& worker, const CpuList& cpus, BoundWorkers& bound,
                              const std::function<Result<>()>& keep) {
    if (worker.unit.empty()) return false;
    const auto known = bound.units.find(worker.unit);
    const auto earlier = known == bound.units.end() ? std::nullopt : std::optional(known->second);
    const auto by_threads = [&]() -> Result<bool> {
        const bool restricted = earlier && runs_within(worker.id.pid, earlier->cpus);
        static_cast<void>(release(worker.unit, bound));
        if (restricted && !bound.units.contains(worker.unit))
            return fail(
                EAGAIN,
                "waiting until systemd has removed AllowedCPUs= from its unit; then its threads are bound");
        return false;
    };
    // It may have started other processes since.
    if (!is_alone_(worker)) return by_threads();
    // Set in an earlier window, or by an earlier daemon; without the cpuset controller it has no effect.
    if (earlier && earlier->cpus == cpus) {
        known->second.process = worker.id;
        return runs_within(worker.id.pid, cpus) ? Result<bool>(true) : by_threads();
    }
    auto* systemd = bus();
    if (systemd == nullptr) return by_threads();
    auto before = earlier ? Result<CpuList>(earlier->before) : systemd->read(worker.unit);
    if (!before) {
        back_off();
        return by_threads();
    }
    bound.units[worker.unit] = {.cpus = cpus,
                                .leaving = earlier ? earlier->cpus : CpuList{},
                                .before = std::move(*before),
                                .process = worker.id};
    const auto kept = keep();
    const auto set = kept ? systemd->set(worker.unit, cpus) : kept;
    if (set) {
        bound.units[worker.unit].leaving.clear();
        return true;
    }
    back_off();
    if (kept && set.error().number == ETIMEDOUT) return false; // systemd may still do it: the entry stays
    if (earlier)
        bound.units[worker.unit] = *earlier;
    else
        bound.units.erase(worker.unit);
    return false;
}

Result<> UnitBinder::release(const std::string& unit, BoundWorkers& bound) {
    const auto known = bound.units.find(unit);
    if (known == bound.units.end()) return {};
    auto* systemd = bus();
    if (systemd == nullptr)
        return fail(EAGAIN, fmt::format("{} keeps AllowedCPUs={}: systemd cannot be reached", unit,
                                        text_of(known->second.cpus)));
    if (auto undone = undo(*systemd, unit, known->second); !undone) {
        back_off();
        return undone;
    }
    bound.units.erase(known);
    return {};
}

} // namespace teamo
