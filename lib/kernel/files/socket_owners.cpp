// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/files/socket_owners.h"

#include "base/whole_number.h"
#include "kernel/files/sysfs.h"

#include <fmt/format.h>

#include <filesystem>

namespace teamo {
namespace {

std::string name_of(pid_t pid) {
    auto name = sysfs::first_line(fmt::format("/proc/{}/comm", pid));
    return name.empty() ? "?" : name;
}

} // namespace

std::optional<std::uint64_t> socket_inode(std::string_view link) {
    constexpr std::string_view head = "socket:[";
    if (!link.starts_with(head) || !link.ends_with(']')) return std::nullopt;
    link.remove_prefix(head.size());
    link.remove_suffix(1);
    return whole_number<std::uint64_t>(link);
}

std::size_t each_socket(pid_t pid, const std::function<bool(int, std::uint64_t)>& take) {
    const auto folder = std::filesystem::path(fmt::format("/proc/{}/fd", pid));
    std::size_t seen = 0;
    for (const auto descriptor : sysfs::numbers_in(folder)) {
        ++seen;
        std::error_code closed; // the process may close it, or end, at any time
        const auto target = std::filesystem::read_symlink(folder / std::to_string(descriptor), closed);
        const auto inode = closed ? std::nullopt : socket_inode(target.native());
        if (inode && !take(static_cast<int>(descriptor), *inode)) break;
    }
    return seen;
}

std::map<std::uint64_t, SocketOwner> find_socket_owners(const std::set<std::uint64_t>& inodes) {
    std::map<std::uint64_t, SocketOwner> found;
    std::size_t seen = 0;
    for (const auto number : sysfs::numbers_in("/proc")) {
        if (found.size() >= inodes.size() || seen >= most_descriptors) break;
        const auto pid = static_cast<pid_t>(number);
        seen += each_socket(pid, [&](int /*descriptor*/, std::uint64_t inode) {
            if (inodes.contains(inode) && !found.contains(inode))
                found.emplace(inode, SocketOwner{.pid = pid, .name = name_of(pid)});
            return true;
        });
    }
    return found;
}

} // namespace teamo
