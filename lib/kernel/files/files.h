// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Small files: entries of /proc and /sys, the daemon's files and locks under /run, and programs to start.
#pragma once

#include "base/cpu_list.h"
#include "base/handle.h"
#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace teamo {

/// The whole file. EFBIG: it is longer than `most` bytes.
Result<std::string> read_file(const std::string& path, std::size_t most = std::size_t{1} << 20);

/// Replaces a file atomically, with these permissions: readers see the old or the new content, never a part.
Result<> replace_file(const std::string& path, std::string_view content, unsigned mode = 0600);

/// Writes into an existing file, such as a /proc entry.
Result<> write_into(const std::string& path, std::string_view content);

/// Removes a file of ours if it exists. Retries passing failures, at most 3 attempts.
void remove_file(const std::string& path);

/// net.ipv6.conf.DEVICE.disable_ipv6; none on a kernel without IPv6, and of a device whose MTU is below 1280
/// bytes (net/ipv6/addrconf.c: addrconf_notify).
std::optional<bool> read_disable_ipv6(std::string_view device);
/// Does nothing to a device without the setting.
Result<> write_disable_ipv6(std::string_view device, bool disabled);

/// The inode of the calling thread's network namespace; 0 if /proc does not show it.
std::uint64_t network_namespace();

/// A lock between processes of the same user, held as long as this object exists; the kernel releases it when
/// the process ends. The destructor removes the file. Its mode is 0600, because flock(2) needs only an open
/// descriptor: users who can read a file can also lock it.
class LockFile {
public:
    /// None: another process holds it. Never waits.
    static Result<std::optional<LockFile>> try_take(std::string path);
    /// True if a process holds it now. EACCES: the caller may not open it; ENOENT: there is no such file.
    static Result<bool> is_held(const std::string& path);

    LockFile(LockFile&&) noexcept = default;
    LockFile& operator=(LockFile&&) = delete;
    ~LockFile();

    /// False after a move from this object.
    explicit operator bool() const { return static_cast<bool>(file_); }

private:
    LockFile(std::string path, UniqueFd file) : path_(std::move(path)), file_(std::move(file)) {}
    std::string path_;
    UniqueFd file_;
};

/// The path of a program: beside this one, or in PATH. Empty: there is none.
std::string find_program(const std::string& name);

/// As execv(3) wants them, with the null at the end; they point into `arguments`.
std::vector<char*> pointers_to(std::vector<std::string>& arguments);

} // namespace teamo

/// Folders and one-line files of /sys and /proc. An absent or unreadable file has no value.
namespace teamo::sysfs {

/// Names in a folder, sorted; empty if there is no such folder.
std::vector<std::string> names_in(const std::filesystem::path& folder, bool only_folders = false);

/// Those of the names that are numbers after the prefix, ascending: 0, 1, 2 for "rx-0", "rx-1", "rx-2".
std::vector<unsigned> numbers_in(const std::filesystem::path& folder, std::string_view prefix = "");

/// The first line without the newline; "" if there is none.
std::string first_line(const std::filesystem::path& file);

std::optional<std::int64_t> number(const std::filesystem::path& file);

/// All numbers in a text: 0, 17, 2 in "0,17 2".
std::vector<std::uint64_t> numbers_of(std::string_view text);

/// A list of CPUs ("0-3"); none if the file is absent or has other content.
std::optional<CpuList> cpus(const std::filesystem::path& file);
/// The same for a mask of CPUs ("ff").
std::optional<CpuList> cpu_mask(const std::filesystem::path& file);

} // namespace teamo::sysfs
