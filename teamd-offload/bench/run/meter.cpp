// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/run/meter.h"

#include "kernel/files/files.h"

#include <algorithm>
#include <numeric>
#include <system_error>
#include <thread>

namespace teamo::bench {
namespace {

/// Names of the meters of processors.
std::vector<std::string> meters_in(const std::string& folder) {
    auto meters = sysfs::names_in(folder);
    std::erase_if(meters, [&folder](const std::string& meter) {
        return !meter.starts_with("intel-rapl:") ||
               !sysfs::first_line(fmt::format("{}/{}/name", folder, meter)).starts_with("package");
    });
    return meters;
}

std::string energy_of(const std::string& folder, const std::string& meter) {
    return fmt::format("{}/{}/energy_uj", folder, meter);
}

constexpr std::chrono::milliseconds spent_on_speed{10};

/// Blocks per millisecond of one CPU: as the work of a network stack, a part is memory and a part is
/// arithmetic.
double speed_of(unsigned cpu) {
    static_cast<void>(write_thread_affinity(0, {cpu}));
    std::vector<std::uint32_t> from(16'384, cpu), to(16'384);
    double blocks = 0;
    const auto start = Clock::now();
    auto now = start;
    for (; now - start < spent_on_speed; now = Clock::now(), ++blocks) {
        std::ranges::copy(from, to.begin());
        from.front() = std::accumulate(to.begin(), to.end(), std::uint32_t{1});
    }
    return blocks / std::chrono::duration<double, std::milli>(now - start).count();
}

} // namespace

std::map<std::string, std::uint64_t> read_rapl(const std::string& folder) {
    std::map<std::string, std::uint64_t> meters;
    for (const auto& meter : meters_in(folder)) {
        const auto energy = sysfs::number(energy_of(folder, meter));
        if (energy && *energy >= 0) meters[meter] = static_cast<std::uint64_t>(*energy);
    }
    return meters;
}

bool rapl_needs_root(const std::string& folder) {
    return std::ranges::any_of(meters_in(folder), [&folder](const std::string& meter) {
        const auto energy = read_file(energy_of(folder, meter));
        return !energy && (energy.error().number == EACCES || energy.error().number == EPERM);
    });
}

Result<Reading> read_meters() {
    auto cpu = TEAMO_TRY(read_cpus());
    return Reading{.cpu = std::move(cpu), .microjoules = read_rapl(rapl_folder)};
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

std::optional<double> machine_speed() {
    const auto cpus = read_thread_affinity(0);
    if (!cpus) return std::nullopt;
    std::vector<double> speeds(cpus->size());
    try {
        std::vector<std::jthread> threads;
        for (std::size_t at = 0; const auto cpu : *cpus)
            threads.emplace_back([cpu, &speed = speeds[at++]] { speed = speed_of(cpu); });
    } catch (const std::system_error&) {
        return std::nullopt;
    }
    return std::accumulate(speeds.begin(), speeds.end(), 0.0);
}

} // namespace teamo::bench
