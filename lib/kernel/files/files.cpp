// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/files/files.h"

#include "base/take_until.h"
#include "base/whole_number.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>

namespace teamo {
namespace {

Result<> write_all(int fd, std::string_view content, const std::string& path) {
    while (!content.empty()) {
        const auto written = ::write(fd, content.data(), content.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return fail_errno(errno, path);
        content.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
}

std::string disable_ipv6_path(std::string_view device) {
    return fmt::format("/proc/sys/net/ipv6/conf/{}/disable_ipv6", device);
}

bool is_program(const std::filesystem::path& path) {
    std::error_code failed;
    return std::filesystem::is_regular_file(path, failed) && ::access(path.c_str(), X_OK) == 0;
}

} // namespace

Result<std::string> read_file(const std::string& path, std::size_t most) {
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return fail_errno(errno, path);
    std::string content;
    std::array<char, 16384> part; // read fills it before it is used
    while (true) {
        const auto got = ::read(fd.get(), part.data(), part.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail_errno(errno, path);
        if (got == 0) return content;
        content.append(part.data(), static_cast<std::size_t>(got));
        if (content.size() > most) return fail(EFBIG, fmt::format("{}: longer than {} bytes", path, most));
    }
}

Result<> replace_file(const std::string& path, std::string_view content, unsigned mode) {
    const auto fresh = path + ".new";
    {
        // A new file, also if others may write in the folder: one that is there could be a FIFO, or theirs.
        const auto create = [&fresh, mode] {
            return UniqueFd(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
        };
        auto fd = create();
        if (!fd && errno == EEXIST) {
            remove_file(fresh);
            fd = create();
        }
        if (!fd) return fail_errno(errno, fresh);
        // Also with a umask: others read the metrics.
        const bool has_mode = ::fchmod(fd.get(), mode) == 0;
        if (auto written = has_mode ? write_all(fd.get(), content, fresh) : fail_errno(errno, fresh);
            !written) {
            remove_file(fresh);
            return written;
        }
    }
    if (std::rename(fresh.c_str(), path.c_str()) == 0) return {};
    const int error = errno;
    remove_file(fresh);
    return fail_errno(error, path);
}

void remove_file(const std::string& path) {
    for (int tries = 0; tries < 3; ++tries)
        if (::unlink(path.c_str()) == 0 || !is_passing({errno, ""})) return;
}

Result<> write_into(const std::string& path, std::string_view content) {
    const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!fd) return fail_errno(errno, path);
    return write_all(fd.get(), content, path);
}

std::optional<bool> read_disable_ipv6(std::string_view device) {
    const auto content = read_file(disable_ipv6_path(device), 64);
    if (!content || content->empty()) return std::nullopt;
    return content->front() != '0';
}

Result<> write_disable_ipv6(std::string_view device, bool disabled) {
    auto written = write_into(disable_ipv6_path(device), disabled ? "1" : "0");
    return !written && written.error().number == ENOENT ? Result<>() : written;
}

std::uint64_t network_namespace() {
    struct stat status{};
    return ::stat("/proc/thread-self/ns/net", &status) == 0 ? status.st_ino : 0;
}

Result<std::optional<LockFile>> LockFile::try_take(std::string path) {
    UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) return fail_errno(errno, path);
    if (::flock(file.get(), LOCK_EX | LOCK_NB) < 0) {
        if (errno == EWOULDBLOCK) return std::optional<LockFile>();
        return fail_errno(errno, path);
    }
    // The previous holder removes the path. If it did so between our open and flock, the lock on the nameless
    // file excludes nobody. The next attempt creates a new file.
    struct stat locked{}, named{};
    if (::fstat(file.get(), &locked) < 0 || ::stat(path.c_str(), &named) < 0 ||
        locked.st_ino != named.st_ino || locked.st_dev != named.st_dev)
        return std::optional<LockFile>();
    return std::optional(LockFile(std::move(path), std::move(file)));
}

Result<bool> LockFile::is_held(const std::string& path) {
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file) return fail_errno(errno, path);
    return ::flock(file.get(), LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

LockFile::~LockFile() {
    if (file_) remove_file(path_); // while the descriptor still holds the lock
}

std::string find_program(const std::string& name) {
    std::error_code failed;
    const auto own = std::filesystem::read_symlink("/proc/self/exe", failed).parent_path() / name;
    if (is_program(own)) return own;
    const auto* path = std::getenv("PATH");
    std::string_view rest = path == nullptr ? "/usr/sbin:/usr/bin:/sbin:/bin" : path;
    while (!rest.empty()) {
        const auto folder = take_until(rest, ":");
        if (const auto found = std::filesystem::path(folder) / name;
            folder.starts_with('/') && is_program(found))
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

namespace teamo::sysfs {

constexpr std::size_t most_bytes = 65536;

std::vector<std::string> names_in(const std::filesystem::path& folder, bool only_folders) {
    std::vector<std::string> names;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error))
        if (std::error_code ignored; !only_folders || entry->is_directory(ignored))
            names.push_back(entry->path().filename());
    std::ranges::sort(names);
    return names;
}

std::vector<unsigned> numbers_in(const std::filesystem::path& folder, std::string_view prefix) {
    std::vector<unsigned> numbers;
    for (const auto& whole : names_in(folder))
        if (whole.starts_with(prefix))
            if (const auto number = whole_number<unsigned>(std::string_view(whole).substr(prefix.size())))
                numbers.push_back(*number);
    std::ranges::sort(numbers);
    return numbers;
}

std::string first_line(const std::filesystem::path& file) {
    const auto text = read_file(file, most_bytes);
    return text ? text->substr(0, text->find('\n')) : std::string();
}

std::optional<std::int64_t> number(const std::filesystem::path& file) {
    return whole_number<std::int64_t>(first_line(file));
}

std::vector<std::uint64_t> numbers_of(std::string_view text) {
    std::vector<std::uint64_t> numbers;
    while (!text.empty()) {
        std::uint64_t number = 0;
        const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error == std::errc{}) numbers.push_back(number);
        text.remove_prefix(error == std::errc{} ? static_cast<std::size_t>(rest - text.data()) : 1);
    }
    return numbers;
}

std::optional<CpuList> cpus(const std::filesystem::path& file) {
    const auto text = read_file(file, most_bytes);
    return text ? parse_cpu_list(std::string_view(*text).substr(0, text->find('\n'))) : std::nullopt;
}

std::optional<CpuList> cpu_mask(const std::filesystem::path& file) {
    return parse_cpu_mask(first_line(file));
}

} // namespace teamo::sysfs
