// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/commands.h"
#include "ctl/report/state.h"

namespace teamo::ctl {

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

} // namespace teamo::ctl
