// SPDX-License-Identifier: LGPL-2.1-or-later
#include "team/subsystems.h"

namespace teamo {
namespace {

/// Moves what was made to its place, or returns the failure.
template <class T>
Result<> put(std::unique_ptr<T>& place, Result<std::unique_ptr<T>> made) {
    if (!made) return tl::unexpected(made.error());
    place = std::move(*made);
    return {};
}

} // namespace

Result<> Subsystems::make(sd_event* loop, TeamContext& context, const std::function<void()>& request_pass) {
    const auto& log = context.log;
    auto& [monitor, announces, contract, irqs, cpus, balance, processes, pause] = *this;
    TEAMO_TRY(put(monitor, CarrierMonitor::make(loop, log, *context.observer)));
    TEAMO_TRY(put(announces, Announcer::make(loop, log, *context.observer)));
    TEAMO_TRY(put(contract, Offloads::make(loop, context, request_pass)));
    TEAMO_TRY(put(irqs, Interrupts::make(loop, context)));
    TEAMO_TRY(put(cpus, PortCpus::make(loop, log, *irqs, request_pass)));
    TEAMO_TRY(put(balance, Balancing::make(loop, context, *cpus, request_pass)));
    TEAMO_TRY(put(processes, Workers::make(loop, context, *irqs)));
    return put(pause, BenchmarkPause::make(loop, log, *irqs, *processes));
}

} // namespace teamo
