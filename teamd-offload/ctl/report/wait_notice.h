// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.h"
#include "text/progress.h"

#include <chrono>
#include <optional>
#include <string>

namespace teamo::ctl {

/// Why a command waits.
struct WaitReason {
    std::string what; ///< "measures what the ports send"
    std::chrono::milliseconds at_most;
    bool is_usual = true; ///< the command waits each time, and not only for a slow daemon or kernel
};

/// What a command that waits says of it, and when. A value: reasons and the time in, texts for standard error
/// out. On a terminal a line with the time left, as soon as a person notices the wait; else a line at the
/// start of a usual wait, and one of another wait only if it is long, so that the mail of a cron job does not
/// depend on how busy the machine is.
class WaitNotice {
public:
    static constexpr std::chrono::milliseconds noticed{100}, is_long{1000};

    /// `title`: the command, "team0: doctor".
    WaitNotice(std::string title, bool is_terminal) : title_(std::move(title)), line_(is_terminal) {}

    bool waits() const { return reason_.has_value(); }
    void begin(WaitReason reason, Clock::time_point now);
    /// How far that is: only for a terminal.
    void detail(std::string text, Clock::time_point now);
    /// What must be written now; empty: nothing.
    std::string due(Clock::time_point now);
    /// When to ask due() again; none: never, unless something changes.
    std::optional<Clock::time_point> deadline() const { return next_; }
    /// What must be written before other output.
    std::string end();

private:
    std::string title_, detail_;
    ProgressLine line_;
    std::optional<WaitReason> reason_;
    Clock::time_point begun_{};
    std::optional<Clock::time_point> next_;
};

} // namespace teamo::ctl
