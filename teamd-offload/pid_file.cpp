// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pid_file.h"

#include "kernel/files/files.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <initializer_list>
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

std::string lock_of(const std::string& path) { return path + ".lock"; }

/// teamd does not hold our lock: its PID is valid if the process has its name.
bool is_called(pid_t pid, std::initializer_list<std::string_view> names) {
    const auto name = read_file(fmt::format("/proc/{}/comm", pid), 64);
    return name && std::ranges::any_of(
                       names, [&name](std::string_view one) { return *name == fmt::format("{}\n", one); });
}

Result<> write_pid(const std::string& path) {
    const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!file) return fail_errno(errno, path);
    const auto text = fmt::format("{}\n", ::getpid());
    if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        return fail_errno(errno, path);
    return {};
}

/// None: another daemon has the team.
Result<std::optional<LockFile>> try_lock(const std::string& path) {
    if (running_by(path)) return std::optional<LockFile>();
    return LockFile::try_take(lock_of(path));
}

} // namespace

std::optional<pid_t> running_by(const std::string& path) {
    const auto pid = pid_in(path);
    if (!pid) return std::nullopt;
    const auto held = LockFile::is_held(lock_of(path));
    if (held && *held) return pid;
    const bool lives = held ? is_called(*pid, {"teamd"}) : is_called(*pid, {"teamd", "teamd-offload"});
    return lives ? pid : std::nullopt;
}

Result<PidFile> PidFile::take(std::string path) {
    // A daemon that was just killed holds the lock until the kernel has closed its files: wait for that.
    const auto deadline = std::chrono::steady_clock::now() + dying_patience;
    while (true) {
        auto lock = TEAMO_TRY(try_lock(path));
        if (lock) {
            TEAMO_TRY(write_pid(path));
            return PidFile(std::move(path), std::move(*lock));
        }
        if (std::chrono::steady_clock::now() > deadline) {
            const auto pid = pid_in(path);
            return fail(EEXIST, fmt::format("Daemon already running on PID {}.", pid.value_or(0)));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
}

PidFile::~PidFile() {
    if (!lock_) return;
    remove_file(path_); // before the lock is released: the next owner writes its own
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
