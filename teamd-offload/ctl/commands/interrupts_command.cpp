// SPDX-License-Identifier: LGPL-2.1-or-later
//
// interrupts: which CPU serves which port, and the problems with that.
#include "control/subsystem_documents.h"
#include "ctl/commands.h"
#include "ctl/output.h"
#include "ctl/report/tables.h"

namespace teamo::ctl {

CommandResult interrupts_show(Session& session, Arguments) {
    const auto state = session.state();
    if (!state) return tl::unexpected(state.error());
    if (!state->interrupts)
        return fail(ENOTSUP,
                    "the daemon is too old for this command; restart it to run the installed version");
    if (session.options().json)
        session.print(*state->document.find("interrupts"));
    else
        put(interrupts_text(*state->interrupts));
    return {};
}

CommandResult interrupts_plan(Session& session, Arguments) {
    const auto document = TEAMO_TRY(session.document(control::InterruptsPlan{}));
    if (session.options().json)
        session.print(document);
    else
        put(interrupt_plan_text(control::read_interrupts(document)));
    return {};
}

CommandResult interrupts_apply(Session& session, Arguments) {
    return send_command(session, control::InterruptsManage{true});
}

CommandResult interrupts_restore(Session& session, Arguments) {
    return send_command(session, control::InterruptsManage{false});
}

} // namespace teamo::ctl
