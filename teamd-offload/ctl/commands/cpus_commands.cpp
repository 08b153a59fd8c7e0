// SPDX-License-Identifier: LGPL-2.1-or-later
//
// interrupts: which CPU serves which port. workers: processes that run on the CPUs where their packets
// arrive.
#include "base/whole_number.h"
#include "control/subsystem_documents.h"
#include "ctl/commands.h"
#include "ctl/report/state_tables.h"
#include "kernel/files/files.h"

#include <unistd.h>

namespace teamo::ctl {
namespace {

Result<pid_t> process_of(const std::string& text) {
    const auto pid = whole_number<pid_t>(text);
    if (!pid || *pid <= 0) return fail(EINVAL, text + " is not a process ID");
    return *pid;
}

} // namespace

CommandResult interrupts_plan(Session& session, Arguments) {
    const auto document = TEAMO_TRY(session.document(control::InterruptsPlan{}));
    session.print(document, interrupt_plan_text(control::read_interrupts(document)));
    return {};
}

Result<> check_workers_bind(Arguments arguments) {
    if (arguments.size() > 1 && arguments[1] != "follow" && arguments[1] != "spread")
        return fail(EINVAL, fmt::format("\"{}\" is not a policy; use follow or spread.", arguments[1]));
    return {};
}

CommandResult workers_bind(Session& session, Arguments arguments) {
    const auto process = TEAMO_TRY(process_of(arguments[0]));
    const bool spread = arguments.size() > 1 && arguments[1] == name_of(WorkerPolicy::spread);
    return send_command(session,
                        control::WorkersBind{process, spread ? WorkerPolicy::spread : WorkerPolicy::follow});
}

CommandResult workers_release(Session& session, Arguments arguments) {
    const auto process = TEAMO_TRY(process_of(arguments[0]));
    return send_command(session, control::WorkersRelease{process});
}

/// This process executes the command: the binding is by PID and start time, which exec(2) keeps.
CommandResult workers_run(Session& session, Arguments arguments) {
    TEAMO_TRY(session.call(control::WorkersBind{.process = ::getpid(), .policy = WorkerPolicy::follow}));
    std::vector<std::string> words(arguments.begin(), arguments.end());
    const auto argv = pointers_to(words);
    ::execvp(argv[0], argv.data());
    return fail_errno(errno, words[0]);
}

} // namespace teamo::ctl
