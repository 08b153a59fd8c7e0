// SPDX-License-Identifier: LGPL-2.1-or-later
//
// port drain: the daemon does the work; this asks how far it is.
#include "base/clock.h"
#include "ctl/commands.h"
#include "ctl/report/drain_forecast.h"

#include <thread>

namespace teamo::ctl {
namespace {

constexpr std::chrono::milliseconds pause{100};
constexpr std::chrono::seconds drain_patience{60}; ///< a slow partner of LACP repeats itself after 30

std::string_view words_for(DrainPhase phase) {
    switch (phase) {
    case DrainPhase::moving: return "its traffic moves to other ports";
    case DrainPhase::emptying: return "its queue empties";
    case DrainPhase::telling: return "its LACP partner is told to stop";
    case DrainPhase::receiving: return "waits until nothing arrives any more";
    default: return "";
    }
}

Result<DrainStatus> read_drain(Session& session, const std::string& name) {
    const auto state = TEAMO_TRY(session.state());
    const auto* port = find_port(state, name);
    if (port == nullptr) return fail(ENODEV, "is not a port of the team any more");
    if (port->drain.phase == DrainPhase::none)
        return fail(ECANCELED, "somebody has ended that: port undrain");
    return port->drain;
}

Result<> await_drained(Session& session, const std::string& name) {
    const auto patience = session.options().timeout.value_or(drain_patience);
    const auto until = Clock::now() + patience;
    auto waiting = session.waits().usual("waits until the port can be unplugged", patience);
    for (;;) {
        const auto drain = TEAMO_TRY(read_drain(session, name));
        waiting.detail(std::string(words_for(drain.phase)));
        if (drain.phase == DrainPhase::drained) return {};
        if (Clock::now() >= until)
            return fail(
                ETIMEDOUT,
                fmt::format("not drained after {} s: {} (it stays so; to use the port again: teamoctl {} "
                            "port undrain {})",
                            patience.count(), text_of(drain), session.team(), name));
        std::this_thread::sleep_for(pause);
    }
}

} // namespace

CommandResult port_drain(Session& session, Arguments arguments) {
    const auto name = device_name(arguments[0]).value_or(arguments[0]);
    TEAMO_TRY(session.call(control::DrainPort{.port = name, .forced = session.options().force}));
    TEAMO_TRY(await_drained(session, name));
    put(fmt::format("{} can be unplugged\n", name));
    return {};
}

CommandResult port_drain_dry_run(Session& session, Arguments arguments) {
    const auto sample = TEAMO_TRY(session.sample());
    const auto* port = find_port(sample.state, device_name(arguments[0]).value_or(arguments[0]));
    if (port == nullptr) return fail(ENODEV, "the team has no such port");
    const auto forecast = drain_forecast_of(sample.state, *port, sample.rates, session.options().force);
    session.print(json_of(session.team(), forecast), text_of(forecast));
    if (auto objection = objection_of(forecast)) return fail(EBUSY, std::move(*objection));
    return {};
}

} // namespace teamo::ctl
