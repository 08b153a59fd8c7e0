// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Runs commands as an unprivileged user.
#pragma once

#include "support/daemon/process.h"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

namespace teamo::test {

inline Process as_unprivileged_user(const std::string& line) {
    return Process::start(
        {.argv = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c", line}});
}

/// Tries to lock every file and directory of the daemons that this user can open, and waits for the locks.
inline std::vector<Process> lock_as_unprivileged_user() {
    std::vector<std::string> paths{"/run/teamd", "/run/teamd-offload"};
    for (const auto* folder : {"/run/teamd", "/run/teamd-offload"})
        if (std::filesystem::exists(folder))
            for (const auto& file : std::filesystem::directory_iterator(folder))
                paths.push_back(file.path().native());
    std::vector<Process> holders;
    for (const auto& path : paths)
        holders.push_back(
            as_unprivileged_user(fmt::format("exec 9<{} && flock 9 && echo {} && sleep 600", path, path)));
    return holders;
}

} // namespace teamo::test
