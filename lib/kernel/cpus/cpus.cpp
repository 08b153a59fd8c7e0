// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/cpus/cpus.h"

#include "base/take_until.h"
#include "base/whole_number.h"
#include "kernel/files/files.h"

#include <sched.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace teamo {
namespace {

namespace fs = std::filesystem;

constexpr unsigned local = 10, unknown_distance = 255; // as in drivers/base/node.c, include/linux/topology.h
constexpr std::uint64_t most_ticks = std::uint64_t{1} << 40; // 348 years; sums of them are bounded
constexpr unsigned whole_capacity = 1024;
// Efficient cores have about 0.6 of the performance (cpu_capacity of such machines on 6.12 and later, which
// report it themselves). It matters only that it is less.
constexpr unsigned atom_capacity = 614, low_power_capacity = 410;

/// "node3" in `parent`.
fs::path numbered(const fs::path& parent, const char* name, unsigned number) {
    return parent / fmt::format("{}{}", name, number);
}

std::optional<unsigned> lowest(const std::optional<CpuList>& cpus) {
    return cpus && !cpus->empty() ? std::optional(cpus->front()) : std::nullopt;
}

/// The lowest CPU that shares the cache of the highest level.
std::optional<unsigned> last_cache(const fs::path& cpu) {
    std::int64_t highest = 0;
    std::optional<unsigned> first;
    for (const auto index : sysfs::numbers_in(cpu / "cache", "index")) {
        const auto folder = numbered(cpu / "cache", "index", index);
        const auto level = sysfs::number(folder / "level").value_or(0);
        if (level <= highest) continue;
        if (const auto shared = lowest(sysfs::cpus(folder / "shared_cpu_list"))) {
            highest = level;
            first = shared;
        }
    }
    return first;
}

Cpu read_cpu(const fs::path& system, unsigned number) {
    const auto folder = numbered(system / "cpu", "cpu", number);
    const auto topology = folder / "topology";
    Cpu cpu;
    cpu.number = cpu.core = number;
    for (const auto* name : {"core_cpus_list", "thread_siblings_list"}) // before 5.3 only the second
        if (const auto first = lowest(sysfs::cpus(topology / name))) {
            cpu.core = *first;
            break;
        }
    // Virtual machines may report no caches: use the package.
    auto cache = last_cache(folder);
    if (!cache) cache = lowest(sysfs::cpus(topology / "package_cpus_list"));
    cpu.cache = cache.value_or(cpu.core);
    // nodeN/cpulist has only online CPUs; this link also exists for offline ones (drivers/base/node.c:
    // register_cpu_under_node).
    if (const auto nodes = sysfs::numbers_in(folder, "node"); !nodes.empty()) cpu.node = nodes.front();
    if (const auto capacity = sysfs::number(folder / "cpu_capacity"); capacity && *capacity > 0)
        cpu.capacity = static_cast<unsigned>(*capacity);
    return cpu;
}

Cpu* find_cpu(CpuTopology& topology, unsigned number) {
    return const_cast<Cpu*>(std::as_const(topology).find(number));
}

void take_nodes(const fs::path& nodes, CpuTopology& topology) {
    for (const auto node : sysfs::numbers_in(nodes, "node"))
        for (const auto number : sysfs::cpus(numbered(nodes, "node", node) / "cpulist").value_or(CpuList()))
            if (auto* cpu = find_cpu(topology, number)) cpu->node = node;
}

/// A row has one column for each online node in ascending order, so a column's index is not the node's
/// number.
std::vector<std::vector<unsigned>> read_distances(const fs::path& nodes) {
    auto online = sysfs::cpus(nodes / "online").value_or(CpuList());
    if (online.empty()) online = sysfs::numbers_in(nodes, "node");
    if (online.size() < 2) return {};
    const std::size_t size = online.back() + 1;
    std::vector<std::vector<unsigned>> distances(size, std::vector<unsigned>(size, unknown_distance));
    for (std::size_t node = 0; node < size; ++node)
        distances[node][node] = local;
    for (const auto node : online) {
        const auto row = sysfs::numbers_of(sysfs::first_line(numbered(nodes, "node", node) / "distance"));
        for (std::size_t column = 0; column < std::min(row.size(), online.size()); ++column)
            distances[node][online[column]] = static_cast<unsigned>(row[column]);
    }
    return distances;
}

/// x86 with several kinds of cores has a PMU for each (arch/x86/events/intel/core.c); cpu_capacity exists
/// there only from kernel 6.12 on.
void take_hybrid(const fs::path& devices, CpuTopology& topology) {
    const auto has_capacity = [](const Cpu& cpu) { return cpu.capacity != whole_capacity; };
    if (std::ranges::any_of(topology.cpus, has_capacity) || !sysfs::cpus(devices / "cpu_core" / "cpus"))
        return;
    const auto take = [&](const char* kind, unsigned capacity) {
        for (const auto number : sysfs::cpus(devices / kind / "cpus").value_or(CpuList()))
            if (auto* cpu = find_cpu(topology, number)) cpu->capacity = capacity;
    };
    take("cpu_atom", atom_capacity);
    take("cpu_lowpower", low_power_capacity);
}

/// The kernel's command line, and cpuset partitions, which only the root cgroup lists.
CpuList read_isolated(const fs::path& sys) {
    CpuList isolated;
    for (const auto* file : {"devices/system/cpu/isolated", "devices/system/cpu/nohz_full",
                             "fs/cgroup/cpuset.cpus.isolated", "fs/cgroup/unified/cpuset.cpus.isolated"})
        if (const auto cpus = sysfs::cpus(sys / file)) isolated = united(std::move(isolated), *cpus);
    return isolated;
}

constexpr unsigned cpu_limit = 8192; // the largest CONFIG_NR_CPUS; cpu_set_t has 1024
using CpuSets = std::array<cpu_set_t, cpu_limit / CPU_SETSIZE>;

/// The columns of a line "cpuN …" in their order (proc(5)); guest time is contained in user and nice.
enum Column : std::size_t { user, nice, system, idle, iowait, irq, softirq, steal, columns };

/// `columns_text`: a line without its head "cpu" or "cpuN". None if it has too few columns.
std::optional<CpuColumns> parse_columns(std::string_view columns_text) {
    std::array<std::uint64_t, columns> counted{};
    for (auto& one : counted) {
        while (columns_text.starts_with(' '))
            columns_text.remove_prefix(1);
        const auto number = whole_number<std::uint64_t>(take_until(columns_text, " \n"));
        if (!number || *number > most_ticks) return std::nullopt;
        one = *number;
    }
    return CpuColumns{.user = counted[user] + counted[nice],
                      .system = counted[system],
                      .idle = counted[idle] + counted[iowait],
                      .irq = counted[irq],
                      .softirq = counted[softirq],
                      .steal = counted[steal]};
}

/// 0 if the counter decreased: idle time can when a CPU goes offline and online.
double seconds_of_ticks(std::uint64_t earlier, std::uint64_t later, long ticks_per_second) {
    return later < earlier ? 0 : static_cast<double>(later - earlier) / static_cast<double>(ticks_per_second);
}

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

/// Of the CPU whose lines are read.
struct Lines {
    std::optional<unsigned> cpu{};
    std::optional<std::int64_t> tick_stopped{}, entry{}, sleep{}, iowait{}; ///< the times in nanoseconds

    /// Its tick stands still while it is idle: the time since then is not in its sum yet.
    std::optional<std::chrono::nanoseconds> idle(std::int64_t now) const {
        if (!cpu || !tick_stopped || !entry || !sleep || !iowait) return std::nullopt;
        constexpr std::int64_t most = std::int64_t{1} << 60; // 36 years
        if (*sleep < 0 || *iowait < 0 || *entry < 0 || std::max({*sleep, *iowait, *entry, now}) > most)
            return std::nullopt;
        const auto open = *tick_stopped == 0 ? 0 : std::max<std::int64_t>(now - *entry, 0);
        return std::chrono::nanoseconds(*sleep + *iowait + open);
    }
};

/// "  .idle_sleeptime : 1012624090746 nsecs".
std::optional<std::int64_t> value_of(std::string_view line) {
    (void)take_until(line, ":");
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    return whole_number<std::int64_t>(line.substr(0, line.find(' ')));
}

// The line of interrupts can be long on a large machine.
Result<std::string> read_proc_stat() { return read_file("/proc/stat", std::size_t{16} << 20); }

} // namespace

Result<CpuTopology> read_cpu_topology(const std::string& root) {
    const fs::path sys = root + "/sys", system = sys / "devices" / "system";
    const auto online = TEAMO_TRY(read_online_cpus(root));
    const auto isolated = read_isolated(sys);
    // Without irqaffinity= the mask has more CPUs than there are. A kernel without SMP has no file.
    const auto mask = read_file(root + "/proc/irq/default_smp_affinity", 65536);
    const auto interrupted = mask ? parse_cpu_mask(*mask) : std::nullopt;
    CpuTopology topology;
    for (const auto number : united(sysfs::cpus(system / "cpu" / "present").value_or(CpuList()), online)) {
        auto cpu = read_cpu(system, number);
        cpu.online = contains(online, number);
        cpu.isolated = contains(isolated, number);
        cpu.interrupts = !interrupted || contains(*interrupted, number);
        topology.cpus.push_back(cpu);
    }
    take_nodes(system / "node", topology);
    topology.distances = read_distances(system / "node");
    take_hybrid(sys / "devices", topology);
    return topology;
}

Result<CpuList> read_online_cpus(const std::string& root) {
    const auto path = root + "/sys/devices/system/cpu/online";
    const auto text = TEAMO_TRY(read_file(path, 65536));
    auto cpus = parse_cpu_list(text);
    if (!cpus) return fail(EINVAL, path + " is not a list of CPUs");
    return std::move(*cpus);
}

Result<CpuList> read_thread_affinity(pid_t thread) {
    CpuSets sets{};
    if (::sched_getaffinity(thread, sizeof sets, sets.data()) < 0)
        return fail_errno(errno, fmt::format("affinity of thread {}", thread));
    CpuList cpus;
    for (unsigned cpu = 0; cpu < cpu_limit; ++cpu)
        if (CPU_ISSET_S(cpu, sizeof sets, sets.data())) cpus.push_back(cpu);
    return cpus;
}

Result<> write_thread_affinity(pid_t thread, const CpuList& cpus) {
    CpuSets sets{};
    for (const auto cpu : cpus)
        if (cpu < cpu_limit) CPU_SET_S(cpu, sizeof sets, sets.data());
    if (::sched_setaffinity(thread, sizeof sets, sets.data()) == 0) return {};
    const int error = errno;
    const auto what = fmt::format("thread {} cannot run on CPU {}", thread, text_of(cpus));
    if (error == EINVAL)
        return fail(EINVAL, what + ": its cpuset has none of them, or the kernel does not allow it to move");
    if (error == EPERM)
        return fail(
            EPERM,
            what +
                ": CAP_SYS_NICE or sched_setaffinity is missing (teamd-offload(8), SECURITY CONSIDERATIONS)");
    return fail_errno(error, what);
}

CpuLoad load_between(const CpuColumns& earlier, const CpuColumns& later) {
    const auto passed = [&](auto ticks_of) {
        const std::uint64_t from = ticks_of(earlier), to = ticks_of(later);
        return to > from ? static_cast<double>(to - from) : 0;
    };
    const double work = passed([](const CpuColumns& cpu) { return cpu.user + cpu.system + cpu.steal; }),
                 interrupts = passed([](const CpuColumns& cpu) { return cpu.irq + cpu.softirq; }),
                 all = work + interrupts + passed([](const CpuColumns& cpu) { return cpu.idle; });
    if (all <= 0) return {};
    return {.work = work / all, .interrupts = interrupts / all};
}

AllCpuColumns parse_cpu_columns(std::string_view proc_stat) {
    AllCpuColumns times;
    while (!proc_stat.empty()) {
        auto line = take_until(proc_stat, "\n");
        if (!line.starts_with("cpu") || line.starts_with("cpu ")) continue; // "cpu ": all CPUs together
        line.remove_prefix(3);
        const auto cpu = whole_number<unsigned>(take_until(line, " "));
        const auto counted = cpu ? parse_columns(line) : std::nullopt;
        if (counted) times[*cpu] = *counted;
    }
    return times;
}

Result<AllCpuColumns> read_cpu_columns() { return parse_cpu_columns(TEAMO_TRY(read_proc_stat())); }

std::map<unsigned, std::chrono::nanoseconds> parse_idle_times(std::string_view timer_list) {
    std::map<unsigned, std::chrono::nanoseconds> times;
    std::int64_t now = 0;
    Lines of;
    const auto finish = [&] {
        if (const auto idle = of.idle(now)) times[*of.cpu] = *idle;
        of = {};
    };
    while (!timer_list.empty()) {
        const auto line = take_until(timer_list, "\n");
        if (line.starts_with("now at "))
            now = whole_number<std::int64_t>(line.substr(7, line.find(' ', 7) - 7)).value_or(0);
        if (line.starts_with("cpu: ")) {
            finish();
            of.cpu = whole_number<unsigned>(line.substr(5));
        }
        if (line.starts_with("  .tick_stopped ")) of.tick_stopped = value_of(line);
        if (line.starts_with("  .idle_entrytime ")) of.entry = value_of(line);
        if (line.starts_with("  .idle_sleeptime ")) of.sleep = value_of(line);
        if (line.starts_with("  .iowait_sleeptime")) of.iowait = value_of(line);
    }
    finish();
    return times;
}

Result<CpuReading> read_cpus() {
    constexpr std::size_t most = std::size_t{16} << 20; // it has some 8 KiB for each CPU
    const auto text = TEAMO_TRY(read_proc_stat());
    CpuReading reading{.at = Clock::now(), .cpus = parse_cpu_columns(text)};
    if (const auto timers = read_file("/proc/timer_list", most))
        for (const auto& [cpu, idle] : parse_idle_times(*timers))
            if (const auto found = reading.cpus.find(cpu); found != reading.cpus.end())
                found->second.exact_idle = idle;
    return reading;
}

double idle_seconds(const CpuColumns& earlier, const CpuColumns& later, long ticks_per_second) {
    if (!earlier.exact_idle || !later.exact_idle)
        return seconds_of_ticks(earlier.idle, later.idle, ticks_per_second);
    const std::chrono::duration<double> idle = *later.exact_idle - *earlier.exact_idle;
    return std::max(idle.count(), 0.0);
}

double busy_seconds(const CpuColumns& earlier, const CpuColumns& later, double elapsed,
                    long ticks_per_second) {
    return std::max(elapsed - idle_seconds(earlier, later, ticks_per_second) -
                        seconds_of_ticks(earlier.steal, later.steal, ticks_per_second),
                    0.0);
}

double busy_seconds(const CpuReading& earlier, const CpuReading& later, long ticks_per_second) {
    const std::chrono::duration<double> elapsed = later.at - earlier.at;
    double sum = 0;
    for (const auto& [cpu, columns] : later.cpus)
        if (const auto before = earlier.cpus.find(cpu); before != earlier.cpus.end())
            sum += busy_seconds(before->second, columns, elapsed.count(), ticks_per_second);
    return sum;
}

std::map<unsigned, CpuTime> times_between(const CpuReading& earlier, const CpuReading& later,
                                          long ticks_per_second) {
    const std::chrono::duration<double> elapsed = later.at - earlier.at;
    std::map<unsigned, CpuTime> times;
    for (const auto& [cpu, columns] : later.cpus)
        if (const auto before = earlier.cpus.find(cpu); before != earlier.cpus.end())
            times[cpu] = time_between(before->second, columns, elapsed.count(), ticks_per_second);
    return times;
}

long ticks_per_second() { return ::sysconf(_SC_CLK_TCK); }

} // namespace teamo
