// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/bench/run/meter.h"

#include "kernel/files/files.h"

namespace teamo::ctl::bench {
namespace {

CpuTime time_between(const CpuColumns& earlier, const CpuColumns& later, double seconds, long ticks) {
    CpuTime time{.user = seconds_of_ticks(earlier.user, later.user, ticks),
                 .system = seconds_of_ticks(earlier.system, later.system, ticks),
                 .softirq = seconds_of_ticks(earlier.softirq, later.softirq, ticks),
                 .irq = seconds_of_ticks(earlier.irq, later.irq, ticks),
                 .idle = std::min(idle_seconds(earlier, later, ticks), seconds)};
    const auto counted = time.busy(), busy = busy_seconds(earlier, later, seconds, ticks);
    if (counted <= 0) {
        time.system = busy;
        return time;
    }
    for (auto* part : {&time.user, &time.system, &time.softirq, &time.irq})
        *part *= busy / counted;
    return time;
}

} // namespace

std::map<std::string, std::uint64_t> read_rapl(const std::string& folder) {
    std::map<std::string, std::uint64_t> meters;
    for (const auto& meter : sysfs::names_in(folder)) {
        const auto zone = folder + "/" + meter;
        const auto name = read_file(zone + "/name");
        if (!meter.starts_with("intel-rapl:") || !name || !name->starts_with("package")) continue;
        const auto energy = sysfs::number(zone + "/energy_uj");
        if (energy && *energy >= 0) meters[meter] = static_cast<std::uint64_t>(*energy);
    }
    return meters;
}

Result<Reading> read_meters() {
    auto cpu = TEAMO_TRY(read_cpus());
    return Reading{.cpu = std::move(cpu), .microjoules = read_rapl("/sys/class/powercap")};
}

std::map<unsigned, CpuTime> cpu_times_between(const Reading& earlier, const Reading& later,
                                              long ticks_per_second) {
    const std::chrono::duration<double> seconds = later.cpu.at - earlier.cpu.at;
    std::map<unsigned, CpuTime> times;
    for (const auto& [cpu, columns] : later.cpu.cpus)
        if (const auto before = earlier.cpu.cpus.find(cpu); before != earlier.cpu.cpus.end())
            times[cpu] = time_between(before->second, columns, seconds.count(), ticks_per_second);
    return times;
}

CpuTime sum_of(const std::map<unsigned, CpuTime>& times, const CpuList& cpus) {
    CpuTime sum;
    for (const auto& [cpu, time] : times)
        if (contains(cpus, cpu)) sum += time;
    return sum;
}

std::optional<double> joules_between(const Reading& earlier, const Reading& later) {
    double sum = 0;
    for (const auto& [name, energy] : later.microjoules) {
        const auto before = earlier.microjoules.find(name);
        if (before == earlier.microjoules.end() || before->second > energy) return std::nullopt;
        sum += static_cast<double>(energy - before->second) / 1e6;
    }
    return later.microjoules.empty() ? std::nullopt : std::optional(sum);
}

} // namespace teamo::ctl::bench
