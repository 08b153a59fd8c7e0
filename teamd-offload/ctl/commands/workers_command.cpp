// SPDX-License-Identifier: LGPL-2.1-or-later
//
// workers: processes that run on the CPUs where their packets arrive.
#include "base/whole_number.h"
#include "ctl/commands.h"
#include "ctl/output.h"
#include "ctl/report/tables.h"

#include <unistd.h>

namespace teamo::ctl {

CommandResult workers_show(Session& session, Arguments) {
    const auto state = session.state();
    if (!state) return tl::unexpected(state.error());
    if (!state->workers)
        return fail(ENOTSUP,
                    "the daemon is too old for this command; restart it to run the installed version");
    if (session.options().json)
        session.print(*state->document.find("workers"));
    else
        put(workers_text(*state->workers));
    return {};
}

Result<> check_workers_bind(Arguments arguments) {
    if (arguments.size() > 1 && arguments[1] != "follow" && arguments[1] != "spread")
        return fail(EINVAL, fmt::format("\"{}\" is not a policy; use follow or spread.", arguments[1]));
    return {};
}

namespace {

Result<pid_t> process_of(const std::string& text) {
    const auto pid = whole_number<pid_t>(text);
    if (!pid || *pid <= 0) return fail(EINVAL, text + " is no process number");
    return *pid;
}

} // namespace

CommandResult workers_bind(Session& session, Arguments arguments) {
    const auto process = TEAMO_TRY(process_of(arguments[0]));
    const bool spread = arguments.size() > 1 && arguments[1] == name_of(WorkerPolicy::spread);
    return send_command(session,
                        control::WorkersBind{.process = process,
                                             .policy = spread ? WorkerPolicy::spread : WorkerPolicy::follow});
}

CommandResult workers_release(Session& session, Arguments arguments) {
    const auto process = TEAMO_TRY(process_of(arguments[0]));
    return send_command(session, control::WorkersRelease{process});
}

/// This process executes the command: the binding is by PID and start time, which exec(2) keeps.
CommandResult workers_run(Session& session, Arguments arguments) {
    if (auto bound =
            session.send(control::WorkersBind{.process = ::getpid(), .policy = WorkerPolicy::follow});
        !bound)
        return tl::unexpected(bound.error());
    std::vector<std::string> words(arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (auto& word : words)
        argv.push_back(word.data());
    argv.push_back(nullptr);
    ::execvp(argv[0], argv.data());
    return fail_errno(errno, words[0]);
}

CommandResult workers_apply(Session& session, Arguments) {
    return send_command(session, control::WorkersManage{true});
}

CommandResult workers_restore(Session& session, Arguments) {
    return send_command(session, control::WorkersManage{false});
}

} // namespace teamo::ctl
