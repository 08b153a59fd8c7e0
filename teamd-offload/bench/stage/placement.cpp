// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/stage/placement.h"

namespace teamo::bench {

Result<Placement> place(const CpuList& cpus, Binding binding) {
    const auto half = cpus.begin() + static_cast<std::ptrdiff_t>(cpus.size() / 2);
    const CpuList first(cpus.begin(), half), second(half, cpus.end());
    if (binding == Binding::none) {
        if (cpus.size() < 2) return Placement{.host = {cpus, cpus}, .far = {cpus, cpus}};
        return Placement{.host = {first, first}, .far = {second, second}, .apart = true};
    }
    if (cpus.size() < 2) return fail(ENOTSUP, "binding needs two CPUs");
    const auto arrival = cpus[0], other = cpus[1];
    const auto threads = binding == Binding::follow  ? CpuList{arrival}
                         : binding == Binding::cross ? CpuList{other}
                                                     : CpuList{arrival, other};
    const bool apart = cpus.size() >= 4;
    const auto& far = apart ? second : cpus;
    return Placement{.host = {.threads = threads, .packets = {arrival}}, .far = {far, far}, .apart = apart};
}

} // namespace teamo::bench
