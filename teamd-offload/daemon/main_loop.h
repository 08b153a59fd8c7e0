// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "daemon/context/log.h"
#include "daemon/context/loop.h"

#include <functional>
#include <vector>

namespace teamo {

/// The loop of the process. SIGTERM, SIGINT and SIGQUIT end it well, SIGHUP tells systemd that a reload
/// begins and calls `reload`, which lets report_ready() follow.
class MainLoop {
public:
    /// Blocks the signals, so that one that comes during the start waits for run().
    static Result<MainLoop> make(const Log& log, std::function<void()> reload);

    sd_event* get() const { return loop_.get(); }
    /// Runs until the end. Returns the status of end().
    int run();
    /// Tells systemd that the start or a reload is over.
    static void report_ready();
    void end(int status) { sd_event_exit(loop_.get(), status); }

private:
    explicit MainLoop(EventLoop loop) : loop_(std::move(loop)) {}
    EventLoop loop_;
    std::vector<Signal> signals_;
};

} // namespace teamo
