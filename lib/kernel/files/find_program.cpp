// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/files/find_program.h"

#include "base/take_until.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace teamo {

namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& path) {
    std::error_code failed;
    return fs::is_regular_file(path, failed) && ::access(path.c_str(), X_OK) == 0;
}

} // namespace

std::string find_program(const std::string& name) {
    std::error_code failed;
    const auto own = fs::read_symlink("/proc/self/exe", failed).parent_path() / name;
    if (is_program(own)) return own;
    const auto* path = std::getenv("PATH");
    std::string_view rest = path == nullptr ? "/usr/sbin:/usr/bin:/sbin:/bin" : path;
    while (!rest.empty()) {
        const auto folder = take_until(rest, ":");
        if (const auto found = fs::path(folder) / name; folder.starts_with('/') && is_program(found))
            return found;
    }
    return "";
}

std::vector<char*> pointers_to(std::vector<std::string>& arguments) {
    std::vector<char*> pointers;
    for (auto& argument : arguments)
        pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    return pointers;
}

} // namespace teamo
