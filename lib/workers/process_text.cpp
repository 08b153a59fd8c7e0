// SPDX-License-Identifier: LGPL-2.1-or-later
#include "workers/process_text.h"

#include "base/take_until.h"
#include "base/whole_number.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace teamo {
namespace {

constexpr std::size_t longest_unit_name = 255; // systemd: UNIT_NAME_MAX

/// The kinds of units that have processes.
constexpr auto unit_kinds =
    std::to_array<std::string_view>({".service", ".scope", ".socket", ".mount", ".swap"});

bool is_unit(std::string_view name) {
    if (name.size() > longest_unit_name) return false;
    const auto dot = name.rfind('.');
    if (dot == std::string_view::npos || dot == 0 || name.front() == '@') return false;
    if (std::ranges::find(unit_kinds, name.substr(dot)) == unit_kinds.end()) return false;
    return std::ranges::all_of(name, [](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
               (letter >= '0' && letter <= '9') ||
               std::string_view(":-_.\\@").find(letter) != std::string_view::npos;
    });
}

/// mountinfo writes blanks, tabs, newlines and backslashes in octal, such as \040.
std::string unescape(std::string_view text) {
    std::string plain;
    while (!text.empty()) {
        unsigned code = 0;
        if (text.size() >= 4 && text[0] == '\\') {
            const auto [stop, error] = std::from_chars(text.data() + 1, text.data() + 4, code, 8);
            if (error == std::errc{} && stop == text.data() + 4 && code < 256) {
                plain += static_cast<char>(code);
                text.remove_prefix(4);
                continue;
            }
        }
        plain += text.front();
        text.remove_prefix(1);
    }
    return plain;
}

} // namespace

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
