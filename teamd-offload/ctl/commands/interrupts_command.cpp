// SPDX-License-Identifier: LGPL-2.1-or-later
//
// interrupts: which CPU serves which port, and what is wrong about it.
#include "ctl/commands.h"
#include "ctl/output.h"
#include "ctl/report/interrupt_report.h"

namespace teamo::ctl {

Result<> interrupts_show(Session& session, Arguments) {
    const auto state = session.state();
    if (!state) return tl::unexpected(state.error());
    const auto* document = state->document.find("interrupts");
    if (document == nullptr) return fail(ENOTSUP, "the daemon is older than its interrupt plan; restart it");
    if (session.options().json)
        session.print(*document);
    else
        put(interrupts_text(read_interrupts(*document)));
    return {};
}

Result<> interrupts_plan(Session& session, Arguments) {
    const auto document = session.document(control::InterruptsPlan{});
    if (!document) return tl::unexpected(document.error());
    if (session.options().json)
        session.print(*document);
    else
        put(interrupt_plan_text(read_interrupts(*document)));
    return {};
}

Result<> interrupts_apply(Session& session, Arguments) {
    return session.tell(control::InterruptsManage{true});
}

Result<> interrupts_restore(Session& session, Arguments) {
    return session.tell(control::InterruptsManage{false});
}

} // namespace teamo::ctl
