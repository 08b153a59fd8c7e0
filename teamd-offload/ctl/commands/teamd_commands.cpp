// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/commands.h"
#include "ctl/output.h"
#include "ctl/report/state.h"

namespace teamo::ctl {
namespace {

CommandResult print_document(Session& session, const control::Request& request) {
    const auto document = TEAMO_TRY(session.document(request));
    session.print(document);
    return {};
}

} // namespace

CommandResult config_dump(Session& session, Arguments) {
    return print_document(session, control::ConfigDump{});
}

CommandResult config_dump_noports(Session& session, Arguments) {
    auto document = TEAMO_TRY(session.document(control::ConfigDump{}));
    document.erase("ports");
    session.print(document);
    return {};
}

CommandResult config_dump_actual(Session& session, Arguments) {
    return print_document(session, control::ConfigDumpActual{});
}

CommandResult state_dump(Session& session, Arguments) {
    return print_document(session, control::StateDump{});
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

CommandResult state_item_set(Session& session, Arguments arguments) {
    return send_command(session, control::StateItemValueSet{arguments[0], arguments[1]});
}

CommandResult port_add(Session& session, Arguments arguments) {
    return send_command(session, control::PortAdd{arguments[0]});
}

CommandResult port_remove(Session& session, Arguments arguments) {
    return send_command(session, control::PortRemove{arguments[0]});
}

CommandResult port_present(Session& session, Arguments arguments) {
    const auto document = TEAMO_TRY(session.document(control::StateDump{}));
    const auto* ports = document.find("ports");
    if (ports && ports->find(arguments[0])) return {};
    return fail(ENODEV, "the team has no such port");
}

CommandResult port_config_update(Session& session, Arguments arguments) {
    return send_command(session, control::PortConfigUpdate{arguments[0], arguments[1]});
}

CommandResult port_config_dump(Session& session, Arguments arguments) {
    return print_document(session, control::PortConfigDump{arguments[0]});
}

} // namespace teamo::ctl
