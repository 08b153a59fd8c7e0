// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The commands that print what the daemon's state has.
#include "control/metrics_text.h"
#include "ctl/commands.h"
#include "ctl/report/state_tables.h"

namespace teamo::ctl {
namespace {

/// A part of the state that an older daemon does not report: `key` is its name in the document.
CommandResult show_part(Session& session, std::string_view key, auto part, auto text) {
    const auto state = TEAMO_TRY(session.state());
    TEAMO_TRY(require_part((state.*part).has_value()));
    session.print(*state.document.find(key), text(*(state.*part)));
    return {};
}

} // namespace

CommandResult balance_show(Session& session, Arguments) {
    const auto state = TEAMO_TRY(session.state());
    session.print(balance_json(state), balance_text(state));
    return {};
}

CommandResult stats_show(Session& session, Arguments) {
    const auto state = TEAMO_TRY(session.state());
    session.print(stats_json(state), stats_text(state));
    return {};
}

CommandResult guard_show(Session& session, Arguments) {
    return show_part(session, "guard", &TeamState::guard, guard_text);
}

CommandResult interrupts_show(Session& session, Arguments) {
    return show_part(session, "interrupts", &TeamState::interrupts, interrupts_text);
}

CommandResult workers_show(Session& session, Arguments) {
    return show_part(session, "workers", &TeamState::workers, workers_text);
}

CommandResult state_view(Session& session, Arguments) {
    const auto document = TEAMO_TRY(session.document(control::StateDump{}));
    const auto text = TEAMO_TRY(view_of_state(document, session.options().verbosity > 0));
    put(text);
    return {};
}

CommandResult state_item_get(Session& session, Arguments arguments) {
    const auto value = TEAMO_TRY(session.call(control::StateItemValueGet{arguments[0]}));
    put(value + "\n");
    return {};
}

CommandResult port_present(Session& session, Arguments arguments) {
    const auto document = TEAMO_TRY(session.document(control::StateDump{}));
    const auto* ports = document.find("ports");
    if (ports && ports->find(device_name(arguments[0]).value_or(arguments[0]))) return {};
    return fail(ENODEV, "the team has no such port");
}

CommandResult metrics_show(Session& session, Arguments) {
    const auto state = TEAMO_TRY(session.document(control::StateDump{}));
    put(control::metrics_text({&state, 1}));
    return {};
}

CommandResult metrics_of_all_teams(const Options& options, Arguments) {
    std::vector<json::Value> states;
    auto status = ExitStatus::success;
    const auto read = [](Session& session) { return session.document(control::StateDump{}); };
    auto answers = TEAMO_TRY(ask_all_teams<json::Value>(options, read));
    for (auto& [team, state] : answers.of_teams) {
        if (state) {
            states.push_back(std::move(*state));
            continue;
        }
        status = ExitStatus::failure;
        warn(state.error().text);
    }
    put(control::metrics_text(states, answers.refused));
    return status;
}

} // namespace teamo::ctl
