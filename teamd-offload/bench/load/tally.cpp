// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/load/tally.h"

#include "kernel/cpus/cpus.h"

#include <pthread.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <system_error>

namespace teamo::bench {
namespace {

double cpu_seconds(pthread_t thread) {
    clockid_t clock{};
    timespec time{};
    if (::pthread_getcpuclockid(thread, &clock) != 0 || ::clock_gettime(clock, &time) < 0) return 0;
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

/// sendfile(2) has no MSG_NOSIGNAL.
void block_sigpipe() {
    sigset_t broken_pipe;
    ::sigemptyset(&broken_pipe);
    ::sigaddset(&broken_pipe, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
}

} // namespace

Result<> LoadThreads::start(CpuList cpus, Work work) {
    auto& one = threads_.emplace_back();
    auto run = [cpus = std::move(cpus), work = std::move(work),
                &tally = one.tally](const std::stop_token& stop) {
        block_sigpipe();
        // A CPU may have gone since: then the scheduler decides.
        if (!cpus.empty()) (void)write_thread_affinity(0, cpus);
        work(stop, tally);
    };
    try {
        one.thread = std::jthread(std::move(run));
    } catch (const std::system_error& error) {
        threads_.pop_back();
        return fail_errno(error.code().value(), fmt::format("cannot start thread {}", size() + 1));
    }
    return {};
}

void LoadThreads::stop() {
    for (auto& one : threads_)
        one.thread.request_stop();
    for (auto& one : threads_)
        if (one.thread.joinable()) one.thread.join();
}

Totals LoadThreads::totals() const {
    Totals sum;
    for (const auto& one : threads_) {
        sum.sent += one.tally.sent;
        sum.received += one.tally.received;
        sum.operations += one.tally.operations;
        // jthread has no const native_handle().
        sum.cpu += cpu_seconds(const_cast<std::jthread&>(one.thread).native_handle());
    }
    return sum;
}

std::size_t LoadThreads::ready() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(threads_, [](const One& one) { return one.tally.ready.load(); }));
}

bool LoadThreads::any_failed() const {
    return std::ranges::any_of(threads_, [](const One& one) { return one.tally.failed.load(); });
}

void LoadThreads::clear_latency() {
    for (auto& one : threads_)
        one.tally.latency.clear();
}

void LoadThreads::add_latency_to(Histogram& all) const {
    for (const auto& one : threads_)
        all.add(one.tally.latency);
}

} // namespace teamo::bench
