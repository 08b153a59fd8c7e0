// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What load generators did: bytes, operations, latencies, and the CPU time of their threads.
#pragma once

#include "base/cpu_list.h"
#include "base/result.h"
#include "bench/load/histogram.h"

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <stop_token>
#include <thread>

namespace teamo::bench {

/// Counted by one thread, read by another.
struct alignas(64) Tally {
    std::atomic<std::uint64_t> sent = 0, received = 0; ///< payload bytes
    std::atomic<std::uint64_t> operations = 0;
    std::atomic<bool> ready = false; ///< its connection works
    std::atomic<bool> failed = false;
    Histogram latency;
};

/// The sum over threads. Only differences are meaningful.
struct Totals {
    std::uint64_t sent = 0, received = 0, operations = 0;
    double cpu = 0; ///< seconds of CPU time
    bool operator==(const Totals&) const = default;
};

/// Threads that generate load, with their tallies, on some CPUs. Own threads instead of iperf3: a process for
/// each connection costs CPU time of its own, which is in no relation to the bytes, and its start and end
/// blur a short measurement; the kernel's clock of a thread is exact.
class LoadThreads {
public:
    using Work = std::function<void(const std::stop_token&, Tally&)>;

    LoadThreads() = default;
    LoadThreads(const LoadThreads&) = delete;
    LoadThreads& operator=(const LoadThreads&) = delete;
    ~LoadThreads() { stop(); }

    /// EAGAIN: the machine allows no further thread.
    Result<> start(CpuList cpus, Work work);
    void stop();

    Totals totals() const;
    /// How many have `ready` set; how many gave up.
    std::size_t ready() const;
    bool any_failed() const;
    std::size_t size() const { return threads_.size(); }
    /// Starts to count latencies anew.
    void clear_latency();
    void add_latency_to(Histogram& all) const;

private:
    struct One {
        Tally tally;
        std::jthread thread;
    };
    std::deque<One> threads_;
};

} // namespace teamo::bench
