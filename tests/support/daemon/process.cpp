// SPDX-License-Identifier: LGPL-2.1-or-later
#include "support/daemon/process.h"

#include "kernel/files/files.h"
#include "support/daemon/watched_calls.h"
#include "support/net/net_ns.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace teamo::test {
namespace {

UniqueFd memory_file(const char* name) {
    UniqueFd fd(::memfd_create(name, MFD_CLOEXEC));
    if (!fd) throw SetupError(fmt::format("memfd_create: {}", std::strerror(errno)));
    return fd;
}

std::string content_of(int fd) {
    std::string text;
    std::array<char, 16384> buffer{};
    ssize_t count = 0;
    while ((count = ::pread(fd, buffer.data(), buffer.size(), static_cast<off_t>(text.size()))) > 0)
        text.append(buffer.data(), static_cast<std::size_t>(count));
    return text;
}

std::vector<std::string> environment_with(const std::vector<std::string>& more) {
    std::vector<std::string> all = more;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view own(*entry);
        const auto name = own.substr(0, own.find('=') + 1);
        if (std::none_of(more.begin(), more.end(), [&](const auto& set) { return set.starts_with(name); }))
            all.emplace_back(own);
    }
    return all;
}

struct Child {
    const NetNs* in;
    int input, out, err;
    char** argv;
    char** environment;
    const sock_fprog* filter; ///< null: not watched
    int is_watched;           ///< readable when the parent watches
};

/// The child's descriptor number of the seccomp listener, until the parent has copied it.
constexpr int listener_number = 250;

/// Returns when the parent handles the child's system calls.
bool be_watched(const Child& child) {
    const auto listener = static_cast<int>(
        ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, child.filter));
    std::uint64_t count = 0;
    return listener >= 0 && ::dup3(listener, listener_number, O_CLOEXEC) == listener_number &&
           ::close(listener) == 0 && ::read(child.is_watched, &count, sizeof count) == sizeof count;
}

void watch(pid_t process, WatchedCalls& calls, int is_watched) {
    const UniqueFd handle(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
    UniqueFd listener;
    for (const auto start = SteadyClock::now(); !listener && since(start) < patient(long_enough);) {
        listener.reset(static_cast<int>(::syscall(SYS_pidfd_getfd, handle.get(), listener_number, 0)));
        if (!listener) std::this_thread::sleep_for(1ms);
    }
    if (!listener) throw SetupError("cannot watch a program (seccomp)");
    calls.follow(process, std::move(listener));
    const std::uint64_t one = 1;
    if (::write(is_watched, &one, sizeof one) < 0) throw SetupError("cannot start a watched program");
}

/// Between fork, or vfork, and exec of a process with threads: system calls only.
[[noreturn]] void become(const Child& child) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    const bool ready = (child.in == nullptr || ::setns(child.in->fd(), CLONE_NEWNET) == 0) &&
                       ::dup2(child.input, 0) == 0 && ::dup2(child.out, 1) == 1 && ::dup2(child.err, 2) == 2;
    if (ready && (child.filter == nullptr || be_watched(child)))
        ::execvpe(child.argv[0], child.argv, child.environment);
    ::dprintf(2, "cannot run %s: errno %d\n", child.argv[0], errno);
    ::_exit(127);
}

} // namespace

Process::Process(pid_t pid, UniqueFd process, UniqueFd out, UniqueFd err)
    : pid_(pid), process_(std::move(process)), out_(std::move(out)), err_(std::move(err)) {}

Process Process::start(const Command& command) {
    auto input = memory_file("input");
    auto out = memory_file("out");
    auto err = memory_file("err");
    if (::write(input.get(), command.input.data(), command.input.size()) < 0 ||
        ::lseek(input.get(), 0, SEEK_SET) < 0)
        throw SetupError("cannot write a command's input");
    auto words = command.argv;
    auto environment = environment_with(command.environment);
    const auto argv = pointers_to(words);
    const auto env = pointers_to(environment);
    const UniqueFd is_watched(::eventfd(0, EFD_CLOEXEC));
    const Child child{command.in,
                      input.get(),
                      out.get(),
                      err.get(),
                      const_cast<char**>(argv.data()),
                      const_cast<char**>(env.data()),
                      command.watched == nullptr ? nullptr : &WatchedCalls::filter(),
                      is_watched.get()};
    // With vfork() no page tables are copied, a third of the time of a short command; the parent goes on
    // after exec. A watched child must wait for its parent before.
    const pid_t pid = command.watched == nullptr ? ::vfork() : ::fork();
    if (pid == 0) become(child);
    if (pid < 0) throw SetupError(fmt::format("fork: {}", std::strerror(errno)));
    UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (command.watched != nullptr) watch(pid, *command.watched, is_watched.get());
    return {pid, std::move(process), std::move(out), std::move(err)};
}

Process::~Process() {
    if (!process_ || status_) return;
    signal(SIGKILL);
    ::waitpid(pid_, nullptr, 0);
}

void Process::signal(int number) const {
    if (!status_) ::kill(pid_, number);
}

bool Process::running() { return !wait(0ms); }

std::optional<int> Process::wait(milliseconds patience) {
    if (status_) return status_;
    pollfd ended{.fd = process_.get(), .events = POLLIN, .revents = 0};
    const auto start = SteadyClock::now();
    auto left = patience;
    while (::poll(&ended, 1, static_cast<int>(left.count())) < 0 && errno == EINTR)
        left = std::max(0ms, patience - since(start));
    if ((ended.revents & POLLIN) == 0) return std::nullopt;
    int status = 0;
    ::waitpid(pid_, &status, 0);
    status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return status_;
}

std::string Process::out() const { return content_of(out_.get()); }
std::string Process::err() const { return content_of(err_.get()); }

Output run(const Command& command, milliseconds patience) {
    auto process = Process::start(command);
    const auto status = process.wait(patient(patience));
    if (!status)
        throw SetupError(fmt::format("{} still runs after {} ms; its output:\n{}{}", command.argv.front(),
                                     patience.count(), process.out(), process.err()));
    return {*status, process.out(), process.err()};
}

Output sh(const NetNs& in, const std::string& line) {
    return run({.argv = {"/bin/sh", "-c", line}, .in = &in});
}

std::string must(const NetNs& in, const std::string& line) {
    auto done = sh(in, line);
    if (done.status != 0)
        throw SetupError(fmt::format("{}\nended with {}:\n{}", line, done.status, done.err));
    return done.out;
}

} // namespace teamo::test
