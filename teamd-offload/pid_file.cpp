// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pid_file.h"

#include "kernel/files.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <charconv>
#include <csignal>
#include <thread>

namespace teamo {
namespace {

constexpr std::chrono::milliseconds dying_patience{500};

std::optional<pid_t> pid_in(const std::string& path) {
    const auto content = read_file(path, 64);
    if (!content) return std::nullopt;
    pid_t pid = 0;
    const auto [stop, error] = std::from_chars(content->data(), content->data() + content->size(), pid);
    return error == std::errc{} && pid > 0 ? std::optional(pid) : std::nullopt;
}

bool is_locked(const std::string& path) {
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    return file && ::flock(file.get(), LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

/// teamd does not lock its pid file: there the number counts, if it is a teamd's.
bool is_teamd(pid_t pid) {
    const auto name = read_file(fmt::format("/proc/{}/comm", pid), 64);
    return name && *name == "teamd\n";
}

/// The file locked, with our number in it; no descriptor while somebody else has it.
Result<UniqueFd> lock(const std::string& path) {
    if (running_by(path)) return UniqueFd();
    UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!file) return fail_errno(errno, path);
    if (::flock(file.get(), LOCK_EX | LOCK_NB) < 0) return UniqueFd();
    // Whoever ended removed the path: a file that lost its name between open and lock locks nobody out.
    struct stat here {
    }, there{};
    if (::fstat(file.get(), &here) < 0 || ::stat(path.c_str(), &there) < 0 || here.st_ino != there.st_ino)
        return UniqueFd();
    const auto text = fmt::format("{}\n", ::getpid());
    if (::ftruncate(file.get(), 0) < 0 ||
        ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        return fail_errno(errno, path);
    return file;
}

} // namespace

std::optional<pid_t> running_by(const std::string& path) {
    const auto pid = pid_in(path);
    return pid && (is_locked(path) || is_teamd(*pid)) ? pid : std::nullopt;
}

Result<PidFile> PidFile::take(std::string path) {
    // One that was killed a moment ago holds the lock until the kernel has taken it apart: it is waited for.
    const auto deadline = std::chrono::steady_clock::now() + dying_patience;
    while (true) {
        auto file = lock(path);
        if (!file) return tl::unexpected(file.error());
        if (*file) return PidFile(std::move(path), std::move(*file));
        if (std::chrono::steady_clock::now() > deadline) {
            const auto pid = pid_in(path);
            return fail(EEXIST, fmt::format("Daemon already running on PID {}.", pid.value_or(0)));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
}

PidFile::~PidFile() {
    if (file_) ::unlink(path_.c_str());
}

Result<> kill_by(const std::string& path, std::chrono::seconds patience) {
    const auto pid = running_by(path);
    if (!pid) return fail(ESRCH, "Daemon not running");
    const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, *pid, 0)));
    if (!process) return fail_errno(errno, fmt::format("process {}", *pid));
    if (::syscall(SYS_pidfd_send_signal, process.get(), SIGTERM, nullptr, 0) < 0)
        return fail_errno(errno, fmt::format("process {}", *pid));
    pollfd ended{.fd = process.get(), .events = POLLIN, .revents = 0};
    const auto wait =
        static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(patience).count());
    if (::poll(&ended, 1, wait) == 1) return {};
    return fail(ETIMEDOUT, fmt::format("Daemon {} did not end within {} s", *pid, patience.count()));
}

} // namespace teamo
