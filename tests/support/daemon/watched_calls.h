// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The system calls by which a program changes something, watched from outside (seccomp_unotify(2)): it can be
// killed before any of them, or have any of them refused.
#pragma once

#include "base/handle.h"

#include <sys/types.h>

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <thread>

struct sock_fprog;

namespace teamo::test {

/// Steps are counted from 1: netlink requests that set something, BPF maps written and programs attached,
/// files under /proc, /sys and /run made, written, renamed or removed, affinities set.
class WatchedCalls {
public:
    WatchedCalls() = default;
    WatchedCalls(const WatchedCalls&) = delete;
    WatchedCalls& operator=(const WatchedCalls&) = delete;

    // Before the program starts:
    /// SIGKILL comes before that step.
    void kill_before(unsigned step) { killed_at_ = step; }
    /// That step is refused, once.
    void refuse(unsigned step, int error) {
        refused_at_ = step;
        refusal_ = error;
    }
    /// Every system call of that number is refused; of these: inotify_init1.
    void refuse_all(int call, int error) { refused_calls_[call] = error; }

    /// The next so many lists of devices are refused (EINTR), as by a kernel whose list changes all the time;
    /// also while the program runs.
    void refuse_lists(unsigned times) { lists_to_refuse_ = times; }

    /// The first address that a device is given is refused (EBUSY), as by a driver that takes it only while
    /// the device is down; SIGKILL comes before the so-many-th request after that which sets something of a
    /// device.
    void kill_in_address_change(unsigned after) { killed_after_address_ = after; }

    /// So many came so far.
    unsigned count() const { return count_; }
    /// What the step was that the program was killed before, or that was refused: "sendmsg 16".
    std::string what() const;

    /// For who starts the program: the filter that it is to have, and the descriptor that the kernel gave for
    /// it.
    static const sock_fprog& filter();
    void follow(pid_t process, UniqueFd listener);

private:
    void serve(const std::stop_token& stop);
    void answer();
    /// Of a request that sets something of a device: 0, an errno, or -1 for the end.
    int verdict_on_change(bool sets_address);

    unsigned killed_at_ = 0, refused_at_ = 0;
    int refusal_ = 0;
    unsigned killed_after_address_ = 0, set_since_address_ = 0;
    bool address_refused_ = false;
    std::map<int, int> refused_calls_;
    std::atomic<unsigned> count_{0}, lists_to_refuse_{0};
    mutable std::mutex mutex_; ///< of what follows
    std::string what_;
    pid_t process_ = 0;
    UniqueFd handle_, listener_;
    std::jthread serving_; ///< last: it uses the rest
};

} // namespace teamo::test
