// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Another user of the machine, who has no right but a shell.
#pragma once

#include "support/daemon/process.h"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

namespace teamo::test {

inline Process as_nobody(const std::string& line) {
    return Process::start(
        {.argv = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c", line}});
}

/// Of each file and folder of the daemons that nobody may open he has the lock, or waits until he gets it.
inline std::vector<Process> lock_as_unprivileged_user() {
    std::vector<std::string> paths{"/run/teamd", "/run/teamd-offload"};
    for (const auto* folder : {"/run/teamd", "/run/teamd-offload"})
        if (std::filesystem::exists(folder))
            for (const auto& file : std::filesystem::directory_iterator(folder))
                paths.push_back(file.path().native());
    std::vector<Process> holders;
    for (const auto& path : paths)
        holders.push_back(as_nobody(fmt::format("exec 9<{} && flock 9 && echo {} && sleep 600", path, path)));
    return holders;
}

} // namespace teamo::test
