// SPDX-License-Identifier: LGPL-2.1-or-later
//
// interrupts prove: the present load without placed interrupts and with them, then without bound workers and
// with them, in turn; and all as it was before.
#include "ctl/commands.h"
#include "ctl/fields.h"
#include "ctl/output.h"
#include "ctl/proof.h"
#include "ctl/trial.h"
#include "kernel/cpu_time.h"

#include <csignal>
#include <thread>

namespace teamo::ctl {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto round_time = 2s;
/// What is on its way, and what is cached, is done with.
constexpr auto settling = 500ms;
/// Three windows of a second must say the same before a worker is bound.
constexpr auto until_workers_are_bound = 4500ms;

/// One thing that can be done without.
struct Step {
    std::string name;
    control::Request (*manage)(bool on);
    Clock::duration until_on = settling;
};

const Step interrupts{.name = "interrupts", .manage = [](bool on) -> control::Request {
                          return control::InterruptsManage{on ? "true" : "false"};
                      }};
const Step workers{
    .name = "workers",
    .manage = [](bool on) -> control::Request { return control::WorkersManage{on ? "true" : "false"}; },
    .until_on = until_workers_are_bound};

volatile std::sig_atomic_t interrupted = 0;

Result<> wait(Clock::duration time) {
    const auto end = Clock::now() + time;
    while (Clock::now() < end && interrupted == 0)
        std::this_thread::sleep_for(std::min<Clock::duration>(100ms, end - Clock::now()));
    return interrupted == 0 ? Result<>{} : fail(EINTR, "ended by a signal");
}

struct Reading {
    double bytes = 0;
    std::chrono::microseconds busy{0};
    Clock::time_point at;
};

Result<Reading> read(Session& session) {
    const auto state = session.state();
    if (!state) return tl::unexpected(state.error());
    const auto busy = read_busy_time();
    if (!busy) return tl::unexpected(busy.error());
    Reading reading{.busy = *busy, .at = Clock::now()};
    for (const auto& port : state->ports)
        reading.bytes +=
            static_cast<double>(port.counters.rx_bytes) + static_cast<double>(port.counters.tx_bytes);
    return reading;
}

Result<> set(Session& session, const Step& step, bool on) {
    if (auto done = session.call(step.manage(on)); !done) return tl::unexpected(done.error());
    return {};
}

Result<ProofPair::Side> measure(Session& session, const Step& step, bool on) {
    if (auto done = set(session, step, on); !done) return tl::unexpected(done.error());
    if (auto waited = wait(on ? step.until_on : settling); !waited) return tl::unexpected(waited.error());
    const auto before = read(session);
    if (!before) return tl::unexpected(before.error());
    if (auto waited = wait(round_time); !waited) return tl::unexpected(waited.error());
    const auto after = read(session);
    if (!after) return tl::unexpected(after.error());
    const auto round = round_of(on, std::max(after->bytes - before->bytes, 0.0), after->at - before->at,
                                after->busy - before->busy);
    return ProofPair::Side{.bytes = round.bytes, .cpu_per_kib = round.cpu_per_kib};
}

Result<Proof> measure(Session& session, const Step& step) {
    std::vector<ProofPair> pairs;
    while (pairs.size() < pairs_of_a_proof) {
        const auto without = measure(session, step, false);
        if (!without) return tl::unexpected(without.error());
        const auto with = measure(session, step, true);
        if (!with) return tl::unexpected(with.error());
        pairs.push_back({.without = *without, .with = *with});
    }
    return prove(pairs);
}

Result<> keep(Session& session, const std::string& step, const Proof& proof) {
    const auto done = session.call(control::ProofKeep{.step = step,
                                                      .bytes_without = std::to_string(proof.bytes_without),
                                                      .bytes_with = std::to_string(proof.bytes_with),
                                                      .cpu_without = std::to_string(proof.cpu_without),
                                                      .cpu_with = std::to_string(proof.cpu_with),
                                                      .bought = name_of(proof.bought)});
    if (!done) return tl::unexpected(done.error());
    return {};
}

bool has_interrupts(const json::Value& document) {
    const auto* ports = child(child(document, "interrupts"), "ports").object();
    if (ports == nullptr) return false;
    return std::ranges::any_of(*ports, [](const auto& port) {
        const auto* queues = child(port.value, "queues").array();
        return queues != nullptr && !queues->empty();
    });
}

bool has_workers(const json::Value& document) {
    const auto* list = child(child(document, "workers"), "workers").array();
    return list != nullptr && !list->empty();
}

/// One step after the other, those that come later left off meanwhile.
Result<> measure_all(Session& session, const json::Value& before, json::Object& figures) {
    std::vector<const Step*> steps;
    if (has_interrupts(before)) steps.push_back(&interrupts);
    if (has_workers(before)) steps.push_back(&workers);
    if (steps.empty())
        return fail(ENODATA, "no port has interrupts, and there are no workers: nothing is placed here");
    for (const auto* step : steps)
        if (auto off = set(session, *step, false); !off) return off;
    for (const auto* step : steps) {
        const auto proof = measure(session, *step);
        if (!proof) return tl::unexpected(proof.error());
        if (auto kept = keep(session, step->name, *proof); !kept) return kept;
        if (session.options().json)
            figures.push_back(
                {step->name,
                 json::Object{{"bought", name_of(proof->bought)},
                              {"bytes_with", static_cast<std::int64_t>(proof->bytes_with)},
                              {"bytes_without", static_cast<std::int64_t>(proof->bytes_without)},
                              {"cpu_ns_per_kib_with", static_cast<std::int64_t>(proof->cpu_with)},
                              {"cpu_ns_per_kib_without", static_cast<std::int64_t>(proof->cpu_without)}}});
        else
            put(text_of(step->name, *proof));
    }
    return {};
}

Result<> put_back(const Session& session, const json::Value& before) {
    auto anew = Session::open(session.team(), session.options());
    if (!anew) return tl::unexpected(anew.error());
    for (const auto* step : {&interrupts, &workers})
        if (auto back = set(*anew, *step, flag(child(before, step->name), "managed")); !back) return back;
    return {};
}

} // namespace

Result<> interrupts_prove(Session& session, Arguments) {
    const auto state = session.state();
    if (!state) return tl::unexpected(state.error());
    const auto& before = state->document;
    for (const int number : {SIGINT, SIGTERM, SIGHUP})
        std::signal(number, [](int) { interrupted = 1; });
    json::Object figures;
    auto outcome = measure_all(session, before, figures);
    // Also after a failure, which may have come later than the first change, and have closed the connection.
    if (auto back = put_back(session, before); !back)
        outcome =
            fail(back.error().number,
                 fmt::format("not put back: {}; then: interrupts apply, workers apply", back.error().text));
    if (outcome && session.options().json) session.print(json::Value(std::move(figures)));
    return outcome;
}

} // namespace teamo::ctl
