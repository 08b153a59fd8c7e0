// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Watches the system calls by which a program changes something (seccomp_unotify(2)). The program can be
// killed before any of them, or any of them can be refused.
#pragma once

#include "base/handle.h"

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct sock_fprog;

namespace teamo::test {

/// Steps count from 1: netlink requests that set something, writes to BPF maps, attached programs, files
/// under /proc, /sys and /run that are created, written, renamed or removed, and affinities that are set.
class WatchedCalls {
public:
    WatchedCalls() = default;
    WatchedCalls(const WatchedCalls&) = delete;
    WatchedCalls& operator=(const WatchedCalls&) = delete;

    // Before the program starts:
    /// Sends SIGKILL before this step.
    void kill_before(unsigned step) { killed_at_ = step; }
    /// No kill any more; what() tells if there was one. Also while the program runs.
    void spare() {
        const std::scoped_lock lock(mutex_);
        killed_at_ = 0;
    }
    /// Refuses this step once. Also while the program runs.
    void refuse(unsigned step, int error) {
        refusal_ = error;
        refused_at_ = step;
    }
    /// Refuses all steps that what() names so; an empty name: none. Also while the program runs.
    void refuse_steps(std::string name, int error) {
        const std::scoped_lock lock(mutex_);
        refused_step_ = std::move(name);
        refusal_ = error;
    }
    /// Refuses every system call with this number; supported: inotify_init1.
    void refuse_all(int call, int error) { refused_calls_[call] = error; }

    /// Refuses this many of the next device dumps (EINTR), like a kernel whose device list changes during
    /// each dump. Also while the program runs.
    void refuse_lists(unsigned times) { lists_to_refuse_ = times; }

    /// Calls this during each dump of the devices, before its second part is asked for. Also while the
    /// program runs.
    void during_lists(std::function<void()> act) {
        const std::scoped_lock lock(mutex_);
        during_lists_ = std::move(act);
    }

    /// Calls this once, before the next request that reads one device. Also while the program runs.
    void before_reading_a_device(std::function<void()> act) {
        const std::scoped_lock lock(mutex_);
        before_reading_ = std::move(act);
    }

    /// Refuses every nth of all watched calls, also of those that change nothing: requests to the kernel, its
    /// answers and events, new sockets. 0: none. Also while the program runs.
    void refuse_every(unsigned nth, int error) {
        error_of_every_ = error;
        refused_every_ = nth;
    }
    /// How many were refused so.
    unsigned refused() const { return refused_; }

    /// Refuses the first change of a device's address (EBUSY), like a driver that accepts it only while the
    /// device is down. Sends SIGKILL before the given request after it (counted from 1) that changes a
    /// device.
    void kill_in_address_change(unsigned after) { killed_after_address_ = after; }

    /// The number of steps so far.
    unsigned count() const { return count_; }
    /// All steps so far, as what() names them.
    std::vector<std::string> steps() const;
    /// The step before which the program was killed, or that was refused: "netlink 0 message 19".
    std::string what() const;

    /// For the code that starts the program: its filter, and the descriptor that the kernel returned for it.
    static const sock_fprog& filter();
    void follow(pid_t process, UniqueFd listener);

private:
    void serve(const std::stop_token& stop);
    void answer();
    std::function<void()> take_before_reading();
    void act_during_list();
    /// For a request that changes a device: 0, an errno, or -1 to kill the program.
    int verdict_on_change(bool sets_address);

    std::atomic<unsigned> killed_at_ = 0;
    std::atomic<unsigned> refused_at_ = 0;
    std::atomic<int> refusal_ = 0;
    unsigned killed_after_address_ = 0, set_since_address_ = 0;
    bool address_refused_ = false;
    std::map<int, int> refused_calls_;
    std::atomic<unsigned> count_{0}, lists_to_refuse_{0};
    std::atomic<unsigned> refused_every_{0}, refused_{0};
    std::atomic<int> error_of_every_{0};
    unsigned seen_ = 0;
    bool lists_ = false;       ///< a dump of the devices has been asked for, and nothing of it was read
    mutable std::mutex mutex_; ///< protects the following members
    std::string what_, refused_step_;
    std::vector<std::string> steps_;
    std::function<void()> before_reading_, during_lists_;
    pid_t process_ = 0;
    UniqueFd handle_, listener_;
    std::jthread serving_; ///< last: uses the other members
};

} // namespace teamo::test
