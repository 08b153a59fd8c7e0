// SPDX-License-Identifier: LGPL-2.1-or-later
//
// interrupts benchmark: measures the present load alternately without and with assigned interrupt CPUs, then
// alternately without and with bound workers. Then restores the settings.
#include "base/clock.h"
#include "ctl/commands.h"
#include "ctl/doctor/benchmark.h"
#include "ctl/doctor/trial.h"
#include "ctl/output.h"
#include "kernel/cpus/cpus.h"
#include "json/fields.h"

#include <algorithm>
#include <csignal>
#include <thread>

namespace teamo::ctl {
namespace {

using namespace std::chrono_literals;

constexpr auto window_time = 2s;
/// After a switch: until packets on their way have left and caches have adapted.
constexpr auto pause = 500ms;
/// The daemon binds a worker after three equal windows of a second.
constexpr auto until_workers_are_bound = 4500ms;

/// A part of the daemon that can be paused.
struct Step {
    BenchmarkStep which;
    Clock::duration until_on = pause;
};
constexpr Step interrupts{.which = BenchmarkStep::interrupts};
constexpr Step workers{.which = BenchmarkStep::workers, .until_on = until_workers_are_bound};

volatile std::sig_atomic_t interrupted = 0;

Result<> wait(Clock::duration time) {
    const auto end = Clock::now() + time;
    while (Clock::now() < end && interrupted == 0)
        std::this_thread::sleep_for(std::min<Clock::duration>(100ms, end - Clock::now()));
    return interrupted == 0 ? Result<>{} : fail(EINTR, "stopped by a signal");
}

struct WindowReading {
    double bytes = 0;
    std::chrono::microseconds busy{0};
    Clock::time_point at;
    bool managed = false; ///< the step is not paused
};

bool is_managed(const TeamState& state, BenchmarkStep step) {
    return step == BenchmarkStep::interrupts ? state.interrupts && state.interrupts->managed
                                             : state.workers && state.workers->managed;
}

Result<WindowReading> read(Session& session, const Step& step) {
    const auto state = TEAMO_TRY(session.state());
    const auto busy = TEAMO_TRY(read_busy_time());
    WindowReading reading{.busy = busy, .at = Clock::now(), .managed = is_managed(state, step.which)};
    for (const auto& port : state.ports)
        reading.bytes +=
            static_cast<double>(port.counters.rx_bytes) + static_cast<double>(port.counters.tx_bytes);
    return reading;
}

/// The daemon ends the pause 15 s after the last of these requests.
Result<> set(Session& session, const Step& step, TrialState state) {
    return session.send(control::BenchmarkTry{.step = step.which, .state = state});
}

Result<BenchmarkPair::Side> measure(Session& session, const Step& step, bool on) {
    TEAMO_TRY(set(session, step, on ? TrialState::on : TrialState::off));
    TEAMO_TRY(wait(on ? step.until_on : pause));
    const auto before = TEAMO_TRY(read(session, step));
    TEAMO_TRY(wait(window_time));
    const auto after = TEAMO_TRY(read(session, step));
    // The pause timed out (SIGSTOP), or the administrator ran `apply` or `restore`.
    if (before.managed != on || after.managed != on)
        return fail(ECANCELED, fmt::format("the {} were switched by another command or by a timeout during "
                                           "the measurement; run it again",
                                           name_of(step.which)));
    const auto round = round_of(on, std::max(after.bytes - before.bytes, 0.0), after.at - before.at,
                                after.busy - before.busy);
    return BenchmarkPair::Side{.bytes = round.bytes, .cpu_per_kib = round.cpu_per_kib};
}

Result<BenchmarkResult> measure(Session& session, const Step& step) {
    std::vector<BenchmarkPair> pairs;
    while (pairs.size() < benchmark_rounds) {
        const auto without = TEAMO_TRY(measure(session, step, false));
        const auto with = TEAMO_TRY(measure(session, step, true));
        pairs.push_back({.without = without, .with = with});
    }
    return evaluate(pairs);
}

Result<> store(Session& session, const Step& step, const BenchmarkResult& result) {
    return session.send(control::BenchmarkKeep{.step = step.which, .result = result});
}

std::vector<const Step*> steps_of(const TeamState& state) {
    const auto has_queues = [](const PortInterruptStatus& port) { return !port.now.queues.empty(); };
    std::vector<const Step*> steps;
    if (state.interrupts && std::ranges::any_of(state.interrupts->ports, has_queues))
        steps.push_back(&interrupts);
    if (state.workers && !state.workers->workers.empty()) steps.push_back(&workers);
    return steps;
}

/// One step after the other. Later steps stay paused until their turn.
Result<> measure_all(Session& session, const std::vector<const Step*>& steps) {
    for (const auto* step : steps)
        TEAMO_TRY(set(session, *step, TrialState::off));
    for (const auto* step : steps) {
        const auto result = TEAMO_TRY(measure(session, *step));
        TEAMO_TRY(store(session, *step, result));
        if (!session.options().json) put(text_of(name_of(step->which), result));
    }
    return {};
}

/// Uses a new connection: a failure may have closed the first one.
Result<> restore(const Session& session, const std::vector<const Step*>& steps) {
    auto fresh = TEAMO_TRY(Session::open(session.team(), session.options()));
    for (const auto* step : steps)
        TEAMO_TRY(set(fresh, *step, TrialState::end));
    return {};
}

/// As in the state.
CommandResult print_benchmarks(Session& session, const std::vector<const Step*>& steps) {
    const auto state = TEAMO_TRY(session.state());
    json::Object figures;
    for (const auto* step : steps)
        figures.push_back({name_of(step->which),
                           json::child(json::child(state.document, "benchmarks"), name_of(step->which))});
    session.print(json::Value(std::move(figures)));
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
    if (!measured) return tl::unexpected(measured.error());
    return session.options().json ? print_benchmarks(session, steps) : CommandResult{};
}

} // namespace teamo::ctl
