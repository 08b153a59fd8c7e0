// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/stage/world.h"

#include "base/handle.h"
#include "base/whole_number.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include <array>
#include <csignal>
#include <cstdlib>

namespace teamo::bench {
namespace {

Result<> make_namespaces() {
    if (::unshare(CLONE_NEWNS | CLONE_NEWNET) < 0) return fail_errno(errno, "cannot create namespaces");
    // What is mounted here must not show outside; what is unmounted outside may go here too.
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) < 0)
        return fail_errno(errno, "cannot make the mounts private");
    if (::mount("proc", "/proc", "proc", 0, nullptr) < 0) return fail_errno(errno, "cannot mount /proc");
    if (::mount("tmpfs", "/run", "tmpfs", 0, "mode=0755") < 0) return fail_errno(errno, "cannot mount /run");
    return {};
}

void write_all(int to, std::string_view text) {
    while (!text.empty()) {
        const auto done = ::write(to, text.data(), text.size());
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return;
        text.remove_prefix(static_cast<std::size_t>(done));
    }
}

/// "0 TEXT", or "ERRNO TEXT of an error".
void report(int to, const Result<std::string>& result) {
    write_all(to, fmt::format("{} {}", result ? 0 : std::max(result.error().number, 1),
                              result ? *result : result.error().text));
}

Result<std::string> parse_report(std::string_view report) {
    const auto blank = std::min(report.find(' '), report.size());
    const auto number = whole_number<int>(report.substr(0, blank));
    if (!number || blank == report.size()) return fail(EPROTO, "the benchmark's process ended unexpectedly");
    std::string text(report.substr(blank + 1));
    if (*number != 0) return fail(*number, std::move(text));
    return text;
}

/// The first process of the new process namespace: when it ends, the kernel ends all others there.
[[noreturn]] void be_first_process(int parent_alive, int reports,
                                   const std::function<Result<std::string>()>& work) {
    ::setsid(); // Ctrl-C is for the parent, which ends this process
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The parent may have ended before the line above: then its end of this pipe is closed.
    pollfd parent{.fd = parent_alive, .events = POLLIN, .revents = 0};
    if (::poll(&parent, 1, 0) != 0) ::_exit(EXIT_FAILURE);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    const auto made = make_namespaces();
    report(reports, made ? work() : fail(made.error().number, made.error().text));
    ::_exit(EXIT_SUCCESS); // no destructors: the kernel removes everything faster
}

struct Pipe {
    UniqueFd read, write;
    static Result<Pipe> open() {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC) < 0) return fail_errno(errno, "cannot open a pipe");
        return Pipe{.read = UniqueFd(ends[0]), .write = UniqueFd(ends[1])};
    }
};

/// Signals that end this process, held back so that it can end the other process first.
class HeldSignals {
public:
    HeldSignals() {
        ::sigemptyset(&held_);
        for (const int signal : ending_signals())
            ::sigaddset(&held_, signal);
        ::sigprocmask(SIG_BLOCK, &held_, &before_);
        fd_ = UniqueFd(::signalfd(-1, &held_, SFD_CLOEXEC));
    }
    HeldSignals(const HeldSignals&) = delete;
    HeldSignals& operator=(const HeldSignals&) = delete;
    /// A signal that has come ends this process here.
    ~HeldSignals() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
    int fd() const { return fd_.get(); }

private:
    sigset_t held_{}, before_{};
    UniqueFd fd_;
};

/// Everything until the pipe closes; or until a signal comes, which stays pending.
std::string read_report(int from, int signals) {
    std::string text;
    std::array<char, 1 << 16> buffer{};
    for (;;) {
        std::array waits{pollfd{.fd = from, .events = POLLIN, .revents = 0},
                         pollfd{.fd = signals, .events = POLLIN, .revents = 0}};
        if (::poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) return text;
        if (waits[1].revents != 0) return text;
        if (waits[0].revents == 0) continue;
        const auto got = ::read(from, buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return text;
        text.append(buffer.data(), static_cast<std::size_t>(got));
    }
}

} // namespace

std::vector<int> ending_signals() {
    std::vector<int> signals;
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction action{};
        if (::sigaction(signal, nullptr, &action) < 0 || action.sa_handler != SIG_IGN)
            signals.push_back(signal);
    }
    return signals;
}

Result<std::string> in_own_world(const std::function<Result<std::string>()>& work) {
    if (::geteuid() != 0) return fail(EPERM, "needs root, for network namespaces of its own");
    auto alive = TEAMO_TRY(Pipe::open());
    auto reports = TEAMO_TRY(Pipe::open());
    const HeldSignals signals;
    if (::unshare(CLONE_NEWPID) < 0) return fail_errno(errno, "cannot create a process namespace");
    const auto child = ::fork();
    if (child < 0) return fail_errno(errno, "cannot start a process");
    if (child == 0) {
        alive.write.reset();
        be_first_process(alive.read.get(), reports.write.get(), work);
    }
    reports.write.reset();
    const auto text = read_report(reports.read.get(), signals.fd());
    ::kill(child, SIGKILL);
    // Returns when all processes of its namespace have ended (kernel/pid_namespace.c: zap_pid_ns_processes).
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    return parse_report(text);
}

} // namespace teamo::bench
