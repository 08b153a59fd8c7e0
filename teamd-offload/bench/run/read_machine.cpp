// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/run/read_machine.h"

#include "base/take_until.h"
#include "bench/run/meter.h"
#include "commit.h"
#include "kernel/cpus/cpus.h"
#include "kernel/files/files.h"
#include "text/numbers.h"
#include "version.h"
#include "json/quote.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <functional>
#include <span>
#include <thread>

namespace teamo::bench {
namespace {

/// Those that change what a TCP connection or its packets cost.
constexpr std::array<std::string_view, 10> sysctl_names{"net.core.busy_poll",
                                                        "net.core.default_qdisc",
                                                        "net.core.netdev_budget",
                                                        "net.core.rmem_max",
                                                        "net.core.rps_sock_flow_entries",
                                                        "net.core.wmem_max",
                                                        "net.ipv4.tcp_congestion_control",
                                                        "net.ipv4.tcp_rmem",
                                                        "net.ipv4.tcp_wmem",
                                                        "net.ipv4.tcp_timestamps"};

std::string now_as_text() {
    const auto now = std::time(nullptr);
    std::tm utc{};
    std::array<char, 32> text{};
    ::gmtime_r(&now, &utc);
    return {text.data(), std::strftime(text.data(), text.size(), "%FT%TZ", &utc)};
}

std::string version_and_commit() {
    const std::string_view commit = program_commit;
    return commit.empty() ? program_version : fmt::format("{}, commit {}", program_version, commit);
}

/// In half a second before anything is measured; 0 if it is not known.
double other_work() {
    const auto before = read_cpus();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    const auto after = read_cpus();
    if (!before || !after) return 0;
    CpuTime all;
    for (const auto& [cpu, time] : times_between(*before, *after, ticks_per_second()))
        all += time;
    const auto passed = all.busy() + all.idle;
    return passed > 0 ? all.busy() / passed : 0;
}

} // namespace

std::string parse_cpu_model(std::string_view cpuinfo) {
    while (!cpuinfo.empty()) {
        auto line = take_until(cpuinfo, "\n");
        if (!line.starts_with("model name")) continue;
        (void)take_until(line, ":");
        return std::string(line.substr(std::min(line.find_first_not_of(' '), line.size())));
    }
    return "";
}

std::map<std::string, std::string> read_sysctls() {
    std::map<std::string, std::string> sysctls;
    for (const auto name : sysctl_names) {
        std::string path(name);
        std::ranges::replace(path, '.', '/');
        if (auto value = sysfs::first_line("/proc/sys/" + path); !value.empty())
            sysctls[std::string(name)] = std::move(value);
    }
    return sysctls;
}

std::string nftables_text(const NftablesRules& rules) {
    constexpr std::size_t most = 8;
    std::vector<std::pair<std::string, std::size_t>> tables(rules.begin(), rules.end());
    std::ranges::stable_sort(tables, std::ranges::greater{}, &std::pair<std::string, std::size_t>::second);
    std::vector<std::string> texts;
    for (const auto& [table, count] : std::span(tables).first(std::min(most, tables.size())))
        texts.push_back(fmt::format("{}: {}", json::printable(table), counted(count, "rule", "rules")));
    if (tables.size() > most)
        texts.push_back("and " + counted(tables.size() - most, "more table", "more tables"));
    return texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, "; "));
}

Machine read_machine() {
    utsname system{};
    ::uname(&system);
    return {.kernel = system.release,
            .cpu = parse_cpu_model(read_file("/proc/cpuinfo", std::size_t{16} << 20).value_or("")),
            .cpus = static_cast<unsigned>(read_online_cpus().value_or(CpuList{}).size()),
            .version = version_and_commit(),
            .date = now_as_text(),
            .sysctls = read_sysctls(),
            .other_work = other_work(),
            .meter_needs_root = rapl_needs_root(rapl_folder)};
}

} // namespace teamo::bench
