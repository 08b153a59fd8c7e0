// SPDX-License-Identifier: LGPL-2.1-or-later
#include "workers/processes.h"

#include "base/take_until.h"
#include "base/whole_number.h"
#include "kernel/files/files.h"
#include "kernel/files/process_files.h"

#include <linux/magic.h>
#include <pwd.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>

namespace teamo {
namespace {

constexpr std::size_t most_text = 65536; // of one file; a cgroup's path has at most 4096 bytes

std::optional<uid_t> find_user(const std::string& name) {
    if (const auto number = whole_number<uid_t>(name)) return number;
    std::vector<char> buffer(16384);
    passwd entry{};
    passwd* found = nullptr;
    if (getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr)
        return std::nullopt;
    return found->pw_uid;
}

constexpr std::size_t longest_unit_name = 255; // systemd: UNIT_NAME_MAX

/// The kinds of units that have processes.
constexpr auto unit_kinds =
    std::to_array<std::string_view>({".service", ".scope", ".socket", ".mount", ".swap"});

bool is_unit(std::string_view name) {
    if (name.size() > longest_unit_name) return false;
    const auto dot = name.rfind('.');
    if (dot == std::string_view::npos || dot == 0 || name.front() == '@') return false;
    if (std::ranges::find(unit_kinds, name.substr(dot)) == unit_kinds.end()) return false;
    constexpr std::string_view letters =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:-_.\\@";
    return name.find_first_not_of(letters) == std::string_view::npos;
}

/// mountinfo writes blanks, tabs, newlines and backslashes in octal, such as \040.
std::string unescape(std::string_view text) {
    std::string plain;
    while (!text.empty()) {
        std::optional<std::uint8_t> code;
        if (text.size() >= 4 && text[0] == '\\') code = whole_number<std::uint8_t>(text.substr(1, 3), 8);
        plain += code ? static_cast<char>(*code) : text.front();
        text.remove_prefix(code ? 4 : 1);
    }
    return plain;
}

} // namespace

Result<ProcessReading> read_process(pid_t pid, const std::string& root) {
    const auto folder = fmt::format("{}/proc/{}", root, pid);
    const auto stat = read_process_stat(folder);
    const auto status = read_file(folder + "/status", most_text),
               cgroup = read_file(folder + "/cgroup", most_text);
    const auto user = status ? parse_user(*status) : std::nullopt;
    const auto again = read_process_stat(folder);
    if (!stat || !user || !again || again->started != stat->started)
        return fail(ESRCH, fmt::format("process {} is gone", pid));
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

CpuList Cpusets::effective(const std::string& path) {
    if (const auto known = known_.find(path); known != known_.end()) return known->second;
    const auto groups = root_ + "/sys/fs/cgroup";
    auto cpus = sysfs::cpus(fmt::format("{}{}/cpuset.cpus.effective", groups, path));
    if (!cpus)
        cpus = sysfs::cpus(fmt::format("{}/cpuset{}/cpuset.effective_cpus", groups, path)); // cgroup v1
    return known_[path] = cpus.value_or(CpuList{});
}

CpuList Cpusets::of(pid_t pid, const UnitBinding* own) {
    const auto text = read_file(fmt::format("{}/proc/{}/cpuset", root_, pid), most_text);
    // "/..": above the root of our control group namespace.
    if (!text || !text->starts_with('/') || text->starts_with("/..")) return {};
    // A group without the controller is in the cpuset of the nearest group above, whose path this is.
    const auto path = text->substr(0, text->find('\n'));
    if (own == nullptr) return effective(path == "/" ? "" : path);
    auto cpus = effective(path.substr(0, path.rfind('/')));
    if (!own->before.empty()) std::erase_if(cpus, [&](unsigned cpu) { return !contains(own->before, cpu); });
    return cpus;
}

std::map<std::string, uid_t> resolve_users(std::span<const WorkerRule> rules) {
    std::map<std::string, uid_t> users;
    for (const auto& rule : rules)
        if (rule.selector == WorkerSelector::user && !users.contains(rule.name))
            if (const auto user = find_user(rule.name)) users.emplace(rule.name, *user);
    return users;
}

Result<std::string> find_unified_cgroup() {
    const auto mounts = TEAMO_TRY(read_file("/proc/self/mountinfo", std::size_t{16} << 20));
    // A later mount may hide an earlier one.
    for (const auto& where : parse_cgroup_mounts(mounts)) {
        struct statfs found{};
        if (::statfs(where.c_str(), &found) == 0 && found.f_type == CGROUP2_SUPER_MAGIC) return where;
    }
    return fail(ENOENT, "the unified control group hierarchy (cgroup2) is not mounted");
}

std::optional<uid_t> parse_user(std::string_view status) {
    while (!status.empty()) {
        auto line = take_until(status, "\n");
        if (!line.starts_with("Uid:\t")) continue;
        take_until(line, "\t");
        take_until(line, "\t"); // the real user
        return whole_number<uid_t>(take_until(line, "\t"));
    }
    return std::nullopt;
}

std::string parse_cgroup(std::string_view text) {
    std::string_view unified, systemd;
    while (!text.empty()) {
        auto line = take_until(text, "\n");
        const auto hierarchy = take_until(line, ":"), controllers = take_until(line, ":");
        if (!line.starts_with('/')) continue;
        if (hierarchy == "0" && controllers.empty()) unified = line;
        if (controllers == "name=systemd") systemd = line;
    }
    // The group was removed while the process was in it.
    for (auto* path : {&unified, &systemd})
        if (constexpr std::string_view deleted = " (deleted)"; path->ends_with(deleted))
            path->remove_suffix(deleted.size());
    return std::string(unified.size() <= 1 && !systemd.empty() ? systemd : unified);
}

std::string unit_of(std::string_view cgroup) {
    while (!cgroup.empty()) {
        auto name = take_until(cgroup, "/");
        if (name.empty() || name.ends_with(".slice")) continue;
        // systemd puts '_' before names that could be mistaken for the kernel's own files.
        if (name.starts_with('_')) name.remove_prefix(1);
        return std::string(is_unit(name) ? name : "");
    }
    return {};
}

bool is_own_group(std::string_view cgroup, std::string_view unit) {
    auto last = cgroup.substr(cgroup.rfind('/') + 1);
    if (last.starts_with('_')) last.remove_prefix(1); // as in unit_of()
    return !unit.empty() && last == unit;
}

std::optional<unsigned> parse_descendants(std::string_view cgroup_stat) {
    while (!cgroup_stat.empty()) {
        auto line = take_until(cgroup_stat, "\n");
        if (take_until(line, " ") == "nr_descendants") return whole_number<unsigned>(line);
    }
    return std::nullopt;
}

std::vector<std::string> parse_cgroup_mounts(std::string_view mountinfo) {
    std::vector<std::string> mounts;
    while (!mountinfo.empty()) {
        auto line = take_until(mountinfo, "\n");
        constexpr std::string_view dash = " - ";
        const auto end = line.find(dash);
        if (end == std::string_view::npos) continue;
        auto type = line.substr(end + dash.size());
        if (take_until(type, " ") != "cgroup2") continue;
        auto head = line.substr(0, end);
        for (int field = 1; field <= 4; ++field) // id, parent, device, root
            take_until(head, " ");
        if (const auto where = take_until(head, " "); where.starts_with('/'))
            mounts.push_back(unescape(where));
    }
    std::ranges::reverse(mounts);
    return mounts;
}

} // namespace teamo
