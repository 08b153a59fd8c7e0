// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemonize.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>

namespace teamo {
namespace {

constexpr int patience_ms = 20'000;

[[noreturn]] void wait_for_child(int pipe) {
    pollfd ready{.fd = pipe, .events = POLLIN, .revents = 0};
    std::uint8_t status = 1;
    // If the child dies, the pipe closes without a status: the start has failed.
    if (::poll(&ready, 1, patience_ms) != 1 || ::read(pipe, &status, 1) != 1) status = 1;
    ::_exit(status);
}

} // namespace

Result<Daemonized> Daemonized::fork() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) < 0) return fail_errno(errno, "pipe");
    UniqueFd read_end(ends[0]), write_end(ends[1]);
    const auto child = ::fork();
    if (child < 0) return fail_errno(errno, "fork");
    if (child > 0) {
        write_end.reset();
        wait_for_child(read_end.get());
    }
    ::setsid();
    if (::chdir("/") < 0) return fail_errno(errno, "/");
    const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    if (null) ::dup2(null.get(), STDIN_FILENO);
    return Daemonized(std::move(write_end));
}

void Daemonized::started(int status) {
    if (!pipe_) return;
    const auto byte = static_cast<std::uint8_t>(status);
    static_cast<void>(::write(pipe_.get(), &byte, 1) == 1); // the parent may be gone
    pipe_.reset();
    // Only the log is used from here on. Close our output, or a program that reads it to its end would hang.
    const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    if (null) {
        ::dup2(null.get(), STDOUT_FILENO);
        ::dup2(null.get(), STDERR_FILENO);
    }
}

} // namespace teamo
