// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/doctor/measuring.h"

#include "base/clock.h"
#include "kernel/cpus/cpus.h"

#include <thread>

namespace teamo::ctl {
namespace {

constexpr auto round_time = std::chrono::seconds(1);
/// After a switch of TSO: until packets on their way have left.
constexpr auto settling = std::chrono::milliseconds(200);

struct Reading {
    PortCounters counters;
    std::chrono::microseconds busy{0};
    Clock::time_point at;
};

Result<Reading> read(Session& session, const std::string& name) {
    const auto state = TEAMO_TRY(session.state());
    const auto* port = find_port(state, name);
    if (port == nullptr) return fail(ENODEV, name + " is no longer a port");
    const auto busy = TEAMO_TRY(read_busy_time());
    return Reading{.counters = port->counters, .busy = busy, .at = Clock::now()};
}

Result<Round> measure_round(Session& session, const std::string& port, bool tso) {
    if (auto set = session.send(control::OffloadTry{port, tso ? TrialState::on : TrialState::off}); !set)
        return tl::unexpected(set.error());
    std::this_thread::sleep_for(settling);
    const auto before = TEAMO_TRY(read(session, port));
    std::this_thread::sleep_for(round_time);
    const auto after = TEAMO_TRY(read(session, port));
    return round_of(tso, payload_between(before.counters, after.counters), after.at - before.at,
                    after.busy - before.busy);
}

} // namespace

Result<Trial> measure_tso(Session& session, const std::string& port) {
    Trial trial{.port = port, .rounds = {}};
    Result<> outcome;
    for (std::size_t number = 0; number < 2 * rounds_per_mode && outcome; ++number) {
        const auto round = measure_round(session, port, /*tso=*/number % 2 == 0);
        if (round)
            trial.rounds.push_back(*round);
        else
            outcome = tl::unexpected(round.error());
    }
    // Also after a failure: TSO may be switched off already.
    const auto ended = session.send(control::OffloadTry{port, TrialState::end});
    if (!outcome) return tl::unexpected(outcome.error());
    if (!ended) return tl::unexpected(ended.error());
    return trial;
}

} // namespace teamo::ctl
