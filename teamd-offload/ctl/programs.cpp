// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/programs.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace teamo::ctl {

std::string find_program(const std::string& name) {
    namespace fs = std::filesystem;
    std::error_code failed;
    const auto own = fs::read_symlink("/proc/self/exe", failed).parent_path() / name;
    if (::access(own.c_str(), X_OK) == 0) return own;
    const auto* path = std::getenv("PATH");
    std::string_view rest = path == nullptr ? "/usr/sbin:/usr/bin:/sbin:/bin" : path;
    while (!rest.empty()) {
        const auto folder = rest.substr(0, rest.find(':'));
        rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
        if (auto found = fs::path(folder) / name; ::access(found.c_str(), X_OK) == 0) return found;
    }
    return "";
}

} // namespace teamo::ctl
