// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/files/socket_owners.h"

#include "base/whole_number.h"
#include "kernel/files/files.h"

#include <filesystem>

namespace teamo {
namespace {

constexpr std::size_t most_descriptors = 1'000'000;

namespace fs = std::filesystem;

std::string name_of(const fs::path& process) {
    auto name = read_file(process / "comm").value_or("?");
    if (name.ends_with('\n')) name.pop_back();
    return name;
}

/// Adds the sockets of one process that are in `wanted`. Returns the number of descriptors that it read.
std::size_t collect_sockets(const fs::path& process, pid_t pid, const std::set<std::uint64_t>& wanted,
                            std::map<std::uint64_t, SocketOwner>& found) {
    std::size_t seen = 0;
    std::error_code gone; // the process may end at any time
    for (fs::directory_iterator descriptor(process / "fd", gone), end; !gone && descriptor != end;
         descriptor.increment(gone)) {
        ++seen;
        std::error_code closed;
        const auto target = fs::read_symlink(descriptor->path(), closed);
        const auto inode = closed ? std::nullopt : socket_inode(target.native());
        if (inode && wanted.contains(*inode) && !found.contains(*inode))
            found.emplace(*inode, SocketOwner{.pid = pid, .name = name_of(process)});
    }
    return seen;
}

} // namespace

std::optional<std::uint64_t> socket_inode(std::string_view link) {
    constexpr std::string_view head = "socket:[";
    if (!link.starts_with(head) || !link.ends_with(']')) return std::nullopt;
    link.remove_prefix(head.size());
    link.remove_suffix(1);
    return whole_number<std::uint64_t>(link);
}

std::map<std::uint64_t, SocketOwner> find_socket_owners(const std::set<std::uint64_t>& inodes) {
    std::map<std::uint64_t, SocketOwner> found;
    std::size_t seen = 0;
    std::error_code refused;
    for (fs::directory_iterator process("/proc", refused), end;
         !refused && process != end && found.size() < inodes.size() && seen < most_descriptors;
         process.increment(refused))
        if (const auto pid = whole_number<pid_t>(process->path().filename().native()))
            seen += collect_sockets(process->path(), *pid, inodes, found);
    return found;
}

} // namespace teamo
