// SPDX-License-Identifier: LGPL-2.1-or-later
//
// workers: processes that run where their packets arrive.
#include "base/whole_number.h"
#include "ctl/commands.h"
#include "ctl/output.h"
#include "ctl/report/worker_report.h"

#include <unistd.h>

namespace teamo::ctl {
Result<> workers_show(Session& session, Arguments) {
    const auto state = session.state();
    if (!state) return tl::unexpected(state.error());
    const auto* document = state->document.find("workers");
    if (document == nullptr) return fail(ENOTSUP, "the daemon is older than its workers; restart it");
    if (session.options().json)
        session.print(*document);
    else
        put(workers_text(read_workers(*document)));
    return {};
}

Result<> check_workers_bind(Arguments arguments) {
    if (arguments.size() > 1 && arguments[1] != "follow" && arguments[1] != "spread")
        return fail(EINVAL, fmt::format("\"{}\" is no policy; it is follow or spread.", arguments[1]));
    return {};
}

namespace {

Result<pid_t> process_of(const std::string& text) {
    const auto pid = whole_number<pid_t>(text);
    if (!pid || *pid <= 0) return fail(EINVAL, text + " is no process number");
    return *pid;
}

} // namespace

Result<> workers_bind(Session& session, Arguments arguments) {
    const auto process = process_of(arguments[0]);
    if (!process) return tl::unexpected(process.error());
    const bool spread = arguments.size() > 1 && arguments[1] == name_of(WorkerPolicy::spread);
    return session.tell(control::WorkersBind{.process = *process,
                                             .policy = spread ? WorkerPolicy::spread : WorkerPolicy::follow});
}

Result<> workers_release(Session& session, Arguments arguments) {
    const auto process = process_of(arguments[0]);
    if (!process) return tl::unexpected(process.error());
    return session.tell(control::WorkersRelease{*process});
}

/// This process becomes the command, and keeps its number and its start.
Result<> workers_run(Session& session, Arguments arguments) {
    if (auto bound =
            session.tell(control::WorkersBind{.process = ::getpid(), .policy = WorkerPolicy::follow});
        !bound)
        return bound;
    std::vector<std::string> words(arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (auto& word : words)
        argv.push_back(word.data());
    argv.push_back(nullptr);
    ::execvp(argv[0], argv.data());
    return fail_errno(errno, words[0]);
}

Result<> workers_apply(Session& session, Arguments) { return session.tell(control::WorkersManage{true}); }

Result<> workers_restore(Session& session, Arguments) { return session.tell(control::WorkersManage{false}); }

} // namespace teamo::ctl
