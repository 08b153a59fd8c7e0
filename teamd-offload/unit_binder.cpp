// SPDX-License-Identifier: LGPL-2.1-or-later
#include "unit_binder.h"

#include "kernel/files.h"
#include "workers/affinity.h"
#include "workers/udp_sampler.h"

#include <algorithm>

namespace teamo {
namespace {

using namespace std::chrono_literals;

/// Where systemd did not answer it is left in peace so long: an answer is waited for.
constexpr auto rest = 60s;

bool is_alone(const Worker& worker) {
    const auto root = find_unified_cgroup();
    if (!root || worker.cgroup.empty()) return false;
    const auto processes = read_file(*root + worker.cgroup + "/cgroup.procs", 4096);
    return processes && std::ranges::count(*processes, '\n') == 1;
}

} // namespace

UnitCpus* UnitBinder::bus(Clock::time_point now) {
    if (bus_) return &*bus_;
    if (now < ask_again_) return nullptr;
    if (auto opened = UnitCpus::open())
        bus_.emplace(std::move(*opened));
    else
        ask_again_ = now + rest;
    return bus_ ? &*bus_ : nullptr;
}

bool UnitBinder::bind(const Worker& worker, const CpuList& cpus, BoundWorkers& bound, Clock::time_point now) {
    const auto known = bound.units.find(worker.unit);
    if (known != bound.units.end() && known->second.cpus == cpus) {
        // Asked for in an earlier window; without the cpuset controller it has no effect.
        const auto shown = read_affinity(worker.id.pid);
        return shown && std::ranges::includes(cpus, *shown);
    }
    if (worker.unit.empty() || !is_alone(worker)) return false;
    auto* systemd = bus(now);
    if (systemd == nullptr) return false;
    const auto set = [&]() -> Result<> {
        if (known != bound.units.end()) {
            known->second.cpus = cpus;
        } else {
            auto before = systemd->read(worker.unit);
            if (!before) return tl::unexpected(before.error());
            bound.units[worker.unit] = {.cpus = cpus, .before = std::move(*before)};
        }
        return systemd->set(worker.unit, cpus);
    };
    if (set()) return true;
    bus_.reset();
    ask_again_ = now + rest;
    return false;
}

void UnitBinder::release(const std::string& unit, BoundWorkers& bound) {
    const auto known = bound.units.find(unit);
    if (known == bound.units.end()) return;
    if (auto* systemd = bus(Clock::now())) {
        // Only what is still ours.
        const auto now = systemd->read(unit);
        if (now && *now == known->second.cpus) static_cast<void>(systemd->set(unit, known->second.before));
    }
    bound.units.erase(known);
}

} // namespace teamo
