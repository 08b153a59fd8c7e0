// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Lists and masks of CPUs, as the kernel and the administrator write them, and the times in /proc/stat.
// fuzz: -max_len=1024
#include "base/cpu_list.h"
#include "kernel/cpus/cpus.h"
#include "require.h"

using namespace teamo;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(bytes), size);
    if (const auto cpus = parse_cpu_list(text)) {
        require(cpus->empty() || cpus->back() < 8192);
        require(parse_cpu_list(text_of(*cpus)) == cpus);
    }
    if (const auto cpus = parse_cpu_mask(text)) require(parse_cpu_mask(mask_of(*cpus)) == cpus);
    const auto half = text.substr(0, size / 2), rest = text.substr(size / 2);
    const auto earlier = parse_cpu_columns(half);
    for (const auto& [cpu, times] : parse_cpu_columns(rest))
        if (const auto found = earlier.find(cpu); found != earlier.end()) {
            const auto load = load_between(found->second, times);
            require(load.work >= 0 && load.interrupts >= 0 && load.work + load.interrupts <= 1.000001);
        }
    require(busy_seconds({.cpus = parse_cpu_columns(half)}, {.cpus = parse_cpu_columns(rest)}, 100) >= 0);
    for (const auto& [cpu, idle] : parse_idle_times(text))
        require(idle.count() >= 0);
    return 0;
}
