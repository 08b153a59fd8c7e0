// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <thread>

namespace teamo {
namespace {

bool has(cap_t set, cap_value_t capability) {
    cap_flag_value_t value = CAP_CLEAR;
    return cap_get_flag(set, capability, CAP_EFFECTIVE, &value) == 0 && value == CAP_SET;
}

constexpr int start_patience_ms = 20'000;

Result<> write_pid(const std::string& path) {
    const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!file) return fail_errno(errno, path);
    // Whatever the umask: members of the group, whom the folder lets in, see by it whether the daemon lives.
    if (::fchmod(file.get(), 0644) < 0) return fail_errno(errno, path);
    const auto text = fmt::format("{}\n", ::getpid());
    if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        return fail_errno(errno, path);
    return {};
}

/// A process that lives, and whose name nothing shows, may be teamd: its file stays until this start has the
/// team.
void remove_if_stale(const std::string& path) {
    const auto pid = pid_in(path);
    const auto name = pid ? process_name(*pid) : Result<std::string>(fail(ESRCH, "no process"));
    if (name || name.error().number == ESRCH) remove_file(path);
}

} // namespace

Result<> check_capabilities(bool needs_bpf) {
    const Handle<std::remove_pointer_t<cap_t>, cap_free> set(cap_get_proc());
    if (!set) return fail_errno(errno, "own capabilities");
    std::string missing;
    const auto need = [&missing](bool there, std::string_view name) {
        if (!there) missing.append(missing.empty() ? "" : ", ").append(name);
    };
    need(has(set.get(), CAP_NET_ADMIN), "CAP_NET_ADMIN");
    need(has(set.get(), CAP_NET_RAW), "CAP_NET_RAW");
    need(!needs_bpf || has(set.get(), CAP_BPF) || has(set.get(), CAP_SYS_ADMIN), "CAP_BPF");
    need(!needs_bpf || has(set.get(), CAP_PERFMON) || has(set.get(), CAP_SYS_ADMIN), "CAP_PERFMON");
    if (missing.empty()) return {};
    return fail(
        EPERM,
        fmt::format("missing privilege: {}; start it as root or give the unit these capabilities", missing));
}

Result<UniqueFd> daemonize() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) < 0) return fail_errno(errno, "pipe");
    UniqueFd read_end(ends[0]), write_end(ends[1]);
    const auto child = ::fork();
    if (child < 0) return fail_errno(errno, "fork");
    if (child > 0) {
        write_end.reset();
        pollfd ready{.fd = read_end.get(), .events = POLLIN, .revents = 0};
        std::uint8_t status = 1;
        // If the child dies, the pipe closes without a status: the start has failed.
        if (::poll(&ready, 1, start_patience_ms) != 1 || ::read(read_end.get(), &status, 1) != 1) status = 1;
        ::_exit(status);
    }
    ::setsid();
    if (::chdir("/") < 0) return fail_errno(errno, "/");
    const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    if (null) ::dup2(null.get(), STDIN_FILENO);
    return write_end;
}

void report_start(UniqueFd parent, int status) {
    if (!parent) return;
    const auto byte = static_cast<std::uint8_t>(status);
    static_cast<void>(::write(parent.get(), &byte, 1) == 1); // the parent may be gone
    parent.reset();
    // Only the log is used from here on. Close our output, or a program that reads it to its end would hang.
    const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    if (null) {
        ::dup2(null.get(), STDOUT_FILENO);
        ::dup2(null.get(), STDERR_FILENO);
    }
}

Result<PidFile> PidFile::take(std::string path, std::chrono::milliseconds patience) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (true) {
        auto lock = running_by(path) ? std::nullopt : TEAMO_TRY(LockFile::try_take(lock_of(path)));
        if (lock) {
            remove_if_stale(path);
            return PidFile(std::move(path), std::move(*lock));
        }
        if (std::chrono::steady_clock::now() > deadline)
            return fail(EEXIST, fmt::format("Daemon already running on PID {}.", pid_in(path).value_or(0)));
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
}

Result<> PidFile::write() {
    TEAMO_TRY(write_pid(path_));
    written_ = true;
    return {};
}

PidFile::~PidFile() {
    if (lock_ && written_) remove_file(path_); // before the lock is released: the next owner writes its own
}

Result<> kill_by(const std::string& path, std::chrono::seconds patience) {
    const auto pid = running_by(path);
    if (!pid) return fail(ESRCH, "Daemon not running");
    const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, *pid, 0)));
    if (!process) return fail_errno(errno, fmt::format("process {}", *pid));
    if (::syscall(SYS_pidfd_send_signal, process.get(), SIGTERM, nullptr, 0) < 0)
        return fail_errno(errno, fmt::format("process {}", *pid));
    pollfd ended{.fd = process.get(), .events = POLLIN, .revents = 0};
    const std::chrono::milliseconds wait(patience);
    if (::poll(&ended, 1, static_cast<int>(wait.count())) == 1) return {};
    return fail(ETIMEDOUT, fmt::format("Daemon {} did not end within {} s", *pid, patience.count()));
}

} // namespace teamo
