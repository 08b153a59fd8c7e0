// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "ctl/report/wait_notice.h"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace teamo::ctl {

/// Writes to standard error why the command waits (WaitNotice). One for the process; of any thread.
class Waits {
public:
    /// Lasts as long as the wait. Nothing else is written to the terminal meanwhile.
    class [[nodiscard]] Scope {
    public:
        explicit Scope(Waits* waits) : waits_(waits) {}
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;
        ~Scope();
        /// How far it is: "its queue empties".
        void detail(std::string text);

    private:
        Waits* waits_; ///< none: inside another wait, which has its own reason
    };

    /// `title`: the command, "team0: doctor".
    explicit Waits(std::string title);

    /// The command waits each time: "measures what the ports send".
    Scope usual(std::string what, std::chrono::milliseconds at_most);
    /// It waits only if the daemon or the kernel is slow.
    Scope slow(std::string what, std::chrono::milliseconds at_most);

private:
    Scope begin(WaitReason reason);
    void run(const std::stop_token& stop);

    std::mutex mutex_;
    WaitNotice notice_;
    std::condition_variable_any changed_;
    bool has_changed_ = false;
    std::jthread writer_; ///< started by the first wait; last: it uses the others
};

} // namespace teamo::ctl
