// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/commands.h"
#include "kernel/files/files.h"

#include <unistd.h>

namespace teamo::ctl {
namespace {

/// Does not return if the program is there: it takes the place of this one.
CommandResult become_benchmark(std::vector<std::string> arguments, Arguments more) {
    constexpr const char* name = "teamo-bench";
    const auto program = find_program(name);
    if (program.empty())
        return fail(ENOENT, "teamo-bench is not installed: install the package teamd-offload-bench");
    arguments.insert(arguments.begin(), name);
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto words = pointers_to(arguments);
    ::execv(program.c_str(), words.data());
    return fail_errno(errno, program);
}

} // namespace

CommandResult bench(const Options&, Arguments words) { return become_benchmark({}, words); }

CommandResult bench_team(Session& session, Arguments words) {
    return become_benchmark({"--team=" + session.team()}, words);
}

} // namespace teamo::ctl
