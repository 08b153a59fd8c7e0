// SPDX-License-Identifier: LGPL-2.1-or-later
//
// interrupts benchmark: measures the present load alternately without and with assigned interrupt CPUs, then
// alternately without and with bound workers. Then restores the settings.
#include "base/clock.h"
#include "ctl/commands.h"
#include "ctl/doctor/rounds.h"
#include "kernel/cpus/cpus.h"
#include "json/fields.h"

#include <algorithm>
#include <csignal>
#include <thread>

namespace teamo::ctl {
namespace {

using namespace std::chrono_literals;
using Steps = std::vector<BenchmarkStep>;

constexpr auto window_time = 2s;
/// After a switch: until packets on their way have left and caches have adapted.
constexpr Clock::duration pause = 500ms;
/// The daemon binds a worker after three equal windows of a second.
constexpr Clock::duration until_workers_are_bound = 4500ms;

volatile std::sig_atomic_t interrupted = 0;

Result<> wait(Clock::duration time) {
    const auto end = Clock::now() + time;
    while (Clock::now() < end && interrupted == 0)
        std::this_thread::sleep_for(std::min<Clock::duration>(100ms, end - Clock::now()));
    return interrupted == 0 ? Result<>{} : fail(EINTR, "stopped by a signal");
}

struct WindowReading {
    double bytes = 0;
    CpuReading cpu{};
    bool managed = false; ///< the step is not paused
};

Result<WindowReading> read(Session& session, BenchmarkStep step) {
    const auto state = TEAMO_TRY(session.state());
    WindowReading reading{.cpu = TEAMO_TRY(read_cpus())};
    reading.managed = step == BenchmarkStep::interrupts ? state.interrupts && state.interrupts->managed
                                                        : state.workers && state.workers->managed;
    for (const auto& port : state.ports)
        reading.bytes +=
            static_cast<double>(port.counters.rx_bytes) + static_cast<double>(port.counters.tx_bytes);
    return reading;
}

/// The daemon ends the pause 15 s after the last of these requests.
Result<> set(Session& session, BenchmarkStep step, TrialState state) {
    return session.send(control::BenchmarkTry{.step = step, .state = state});
}

Result<Round> measure(Session& session, BenchmarkStep step, bool on) {
    TEAMO_TRY(set(session, step, on ? TrialState::on : TrialState::off));
    TEAMO_TRY(wait(on && step == BenchmarkStep::workers ? until_workers_are_bound : pause));
    const auto before = TEAMO_TRY(read(session, step));
    TEAMO_TRY(wait(window_time));
    const auto after = TEAMO_TRY(read(session, step));
    // The pause timed out (SIGSTOP), or the administrator ran `apply` or `restore`.
    if (before.managed != on || after.managed != on)
        return fail(ECANCELED, fmt::format("the {} were switched by another command or by a timeout during "
                                           "the measurement; run it again",
                                           name_of(step)));
    return round_of(std::max(after.bytes - before.bytes, 0.0), before.cpu, after.cpu);
}

Result<BenchmarkResult> measure(Session& session, BenchmarkStep step) {
    std::vector<RoundPair> pairs(benchmark_pairs);
    for (auto& pair : pairs) {
        pair.without = TEAMO_TRY(measure(session, step, false));
        pair.with = TEAMO_TRY(measure(session, step, true));
    }
    return evaluate(pairs);
}

/// The parts of the daemon that have something to pause.
Steps steps_of(const TeamState& state) {
    const auto has_queues = [](const PortInterruptStatus& port) { return !port.now.queues.empty(); };
    Steps steps;
    if (state.interrupts && std::ranges::any_of(state.interrupts->ports, has_queues))
        steps.push_back(BenchmarkStep::interrupts);
    if (state.workers && !state.workers->workers.empty()) steps.push_back(BenchmarkStep::workers);
    return steps;
}

/// One step after the other. Later steps stay paused until their turn.
Result<> measure_all(Session& session, const Steps& steps) {
    for (const auto step : steps)
        TEAMO_TRY(set(session, step, TrialState::off));
    for (const auto step : steps) {
        const auto result = TEAMO_TRY(measure(session, step));
        TEAMO_TRY(session.send(control::BenchmarkKeep{.step = step, .result = result}));
        if (!session.options().json) put(text_of(name_of(step), result) + "\n");
    }
    return {};
}

/// Uses a new connection: a failure may have closed the first one.
Result<> restore(const Session& session, const Steps& steps) {
    auto fresh = TEAMO_TRY(Session::open(session.team(), session.options()));
    for (const auto step : steps)
        TEAMO_TRY(set(fresh, step, TrialState::end));
    return {};
}

/// As in the state.
CommandResult print_benchmarks(Session& session, const Steps& steps) {
    const auto state = TEAMO_TRY(session.state());
    const auto& benchmarks = json::child(state.document, "benchmarks");
    json::Object figures;
    for (const auto step : steps)
        figures.push_back({name_of(step), json::child(benchmarks, name_of(step))});
    session.print(figures);
    return {};
}

} // namespace

CommandResult interrupts_benchmark(Session& session, Arguments) {
    const auto state = TEAMO_TRY(session.state());
    const auto steps = steps_of(state);
    if (steps.empty())
        return fail(ENODATA, "nothing to measure: no port has interrupts, and there are no workers");
    for (const int number : {SIGINT, SIGTERM, SIGHUP})
        std::signal(number, [](int) { interrupted = 1; });
    const auto measured = measure_all(session, steps);
    if (auto restored = restore(session, steps); !restored)
        return fail(
            restored.error().number,
            fmt::format("restoring failed ({}); the daemon restores within 15 s", restored.error().text));
    TEAMO_TRY(measured);
    return session.options().json ? print_benchmarks(session, steps) : CommandResult{};
}

} // namespace teamo::ctl
