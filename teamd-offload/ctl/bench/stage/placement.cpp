// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/bench/stage/placement.h"

namespace teamo::ctl::bench {

Result<Placement> place(const CpuList& cpus, Binding binding) {
    const auto half = cpus.begin() + static_cast<std::ptrdiff_t>(cpus.size() / 2);
    const CpuList first(cpus.begin(), half), second(half, cpus.end());
    if (binding == Binding::none) {
        if (cpus.size() < 2) return Placement{.host = {cpus, cpus}, .far = {cpus, cpus}};
        return Placement{.host = {first, first}, .far = {second, second}, .apart = true};
    }
    if (cpus.size() < 2) return fail(ENOTSUP, "binding needs two CPUs");
    // Two CPUs of the host: packets arrive at one, and the workers run there or on the other.
    const auto arrival = cpus[0], other = cpus[1];
    const bool apart = cpus.size() >= 4;
    const auto& far = apart ? second : cpus;
    return Placement{
        .host = {.threads = {binding == Binding::follow ? arrival : other}, .packets = {arrival}},
        .far = {far, far},
        .apart = apart};
}

} // namespace teamo::ctl::bench
