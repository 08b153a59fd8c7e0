// SPDX-License-Identifier: LGPL-2.1-or-later
#include "workers/processes.h"

#include "base/whole_number.h"
#include "kernel/files/files.h"
#include "kernel/files/process_files.h"
#include "workers/process_text.h"

#include <pwd.h>

#include <algorithm>
#include <array>
#include <optional>

namespace teamo {
namespace {

constexpr std::size_t most_text = 65536; // of one file; a cgroup's path has at most 4096 bytes

tl::unexpected<Error> gone(pid_t pid) { return fail(ESRCH, fmt::format("process {} is gone", pid)); }

std::optional<uid_t> find_user(const std::string& name) {
    if (const auto number = whole_number<uid_t>(name)) return number;
    std::vector<char> buffer(16384);
    passwd entry{};
    passwd* found = nullptr;
    if (getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr)
        return std::nullopt;
    return found->pw_uid;
}

} // namespace

Result<ProcessReading> read_process(pid_t pid, const std::string& root) {
    const auto folder = fmt::format("{}/proc/{}", root, pid);
    const auto stat = read_process_stat(folder);
    const auto status = read_file(folder + "/status", most_text),
               cgroup = read_file(folder + "/cgroup", most_text);
    const auto user = status ? parse_user(*status) : std::nullopt;
    const auto again = read_process_stat(folder);
    if (!stat || !user || !again || again->started != stat->started) return gone(pid);
    auto path = cgroup ? parse_cgroup(*cgroup) : std::string(); // a kernel without control groups
    auto unit = unit_of(path);
    return ProcessReading{.worker = {.id = {.pid = pid, .started = stat->started},
                                     .command = stat->command,
                                     .user = *user,
                                     .cgroup = std::move(path),
                                     .unit = std::move(unit),
                                     .threads = stat->threads},
                          .ticks = again->ticks};
}

std::map<std::string, uid_t> resolve_users(std::span<const WorkerRule> rules) {
    std::map<std::string, uid_t> users;
    for (const auto& rule : rules)
        if (rule.selector == WorkerSelector::user && !users.contains(rule.name))
            if (const auto user = find_user(rule.name)) users.emplace(rule.name, *user);
    return users;
}

} // namespace teamo
