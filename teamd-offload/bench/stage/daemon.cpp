// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/stage/daemon.h"

#include "base/clock.h"
#include "control/client.h"
#include "kernel/cpus/cpus.h"
#include "kernel/files/files.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <ctime>
#include <thread>

namespace teamo::bench {
namespace {

using namespace std::chrono_literals;

constexpr int not_started = 127;

/// After fork(): other threads of this process may have held locks, so only system calls.
[[noreturn]] void become_daemon(char* const* words, int network, int log, const cpu_set_t* cpus) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (cpus != nullptr) ::sched_setaffinity(0, sizeof *cpus, cpus);
    ::dup2(log, STDOUT_FILENO);
    ::dup2(log, STDERR_FILENO);
    if (::setns(network, CLONE_NEWNET) < 0 || ::unshare(CLONE_NEWNS) < 0 ||
        ::mount("sysfs", "/sys", "sysfs", 0, nullptr) < 0 ||
        ::mount("tmpfs", "/run", "tmpfs", 0, "mode=0755") < 0)
        ::_exit(not_started);
    ::mkdir("/run/teamd", 0755);
    ::mkdir("/run/teamd-offload", 0755);
    ::execv(words[0], words);
    ::_exit(not_started);
}

} // namespace

Result<Daemon> Daemon::start(const DaemonSetup& setup, const NetNamespace& network) {
    UniqueFd log(::memfd_create("log", MFD_CLOEXEC));
    if (!log) return fail_errno(errno, "no memory for a log");
    auto text = setup.arguments;
    text.insert(text.begin(), setup.program);
    const auto words = pointers_to(text);
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    for (const auto cpu : setup.cpus)
        if (cpu < CPU_SETSIZE) CPU_SET(cpu, &cpus);
    const auto child = ::fork();
    if (child < 0) return fail_errno(errno, "cannot start a process");
    if (child == 0)
        become_daemon(words.data(), network.fd(), log.get(), setup.cpus.empty() ? nullptr : &cpus);
    return Daemon(child, std::move(log));
}

Daemon::~Daemon() {
    if (pid_ == 0) return;
    ::kill(pid_, SIGKILL); // also if it is stopped; its devices go with their namespace
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

void Daemon::pause() const { ::kill(pid_, SIGSTOP); }

void Daemon::resume() const { ::kill(pid_, SIGCONT); }

std::optional<double> Daemon::cpu_seconds() const {
    clockid_t clock{}; // exact, where /proc/PID/stat has whole ticks
    timespec time{};
    if (::clock_getcpuclockid(pid_, &clock) != 0 || ::clock_gettime(clock, &time) < 0) return std::nullopt;
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

bool Daemon::has_ended() const {
    siginfo_t info{};
    ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
    return info.si_pid == pid_;
}

std::string Daemon::end_of_log() const {
    std::array<char, 1500> end{};
    const auto size = ::lseek(log_.get(), 0, SEEK_END);
    const auto from = std::max<off_t>(size - static_cast<off_t>(end.size()), 0);
    const auto got = ::pread(log_.get(), end.data(), end.size(), from);
    return {end.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
}

Result<> Daemon::await_ports(const std::string& team, const std::vector<std::string>& ports) const {
    const auto run = fmt::format("/proc/{}/root/run/teamd", pid_);
    const auto uses = [&](const std::string& port) {
        auto client = control::Client::connect(team, run);
        if (!client) return false;
        const auto reply =
            client->call(control::StateItemValueGet{fmt::format("ports.{}.link_watches.up", port)});
        const auto* value = reply ? std::get_if<std::string>(&*reply) : nullptr;
        return value != nullptr && *value == "true";
    };
    const auto start = Clock::now();
    for (;;) {
        if (std::ranges::all_of(ports, uses)) return {};
        if (has_ended()) return fail(ECHILD, fmt::format("{}: the daemon ended: {}", team, end_of_log()));
        if (Clock::now() - start > 20s)
            return fail(ETIMEDOUT, fmt::format("{}: not all ports are up: {}", team, end_of_log()));
        std::this_thread::sleep_for(20ms);
    }
}

} // namespace teamo::bench
