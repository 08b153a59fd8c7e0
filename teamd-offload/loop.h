// SPDX-License-Identifier: LGPL-2.1-or-later
//
// sd-event as movable values: each is active until it is destroyed. One thread, one loop.
#pragma once

#include "base/handle.h"
#include "base/result.h"

#include <systemd/sd-event.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace teamo {

using EventLoop = Handle<sd_event, sd_event_unref>;
using EventSource = Handle<sd_event_source, sd_event_source_disable_unref>;

/// Lower runs first: a lost link is handled before a client's request.
enum class Priority : int { link = -100, timer = -50, client = 0 };

/// Must be called after a fork whose child continues (sd-event refuses another PID).
Result<EventLoop> make_loop();

/// Expires once; can be set again.
class Timer {
public:
    using Action = std::function<void()>;
    static Result<Timer> make(sd_event* loop, Action action);

    void at(std::chrono::steady_clock::time_point when);
    void after(std::chrono::microseconds delay) { at(std::chrono::steady_clock::now() + delay); }
    void stop();

private:
    Timer(std::unique_ptr<Action> action, EventSource source)
        : action_(std::move(action)), source_(std::move(source)) {}
    static int expired(sd_event_source* source, std::uint64_t now, void* action) noexcept;

    std::unique_ptr<Action> action_; // before the source, which points at it
    EventSource source_;
};

/// Calls its action when a descriptor can be read or written. Does not own the descriptor.
class Io {
public:
    using Action = std::function<void(std::uint32_t events)>; ///< EPOLLIN, EPOLLOUT, EPOLLHUP, …
    static Result<Io> make(sd_event* loop, int fd, std::uint32_t events, Priority priority, Action action);
    void set_events(std::uint32_t events);

private:
    Io(std::unique_ptr<Action> action, EventSource source)
        : action_(std::move(action)), source_(std::move(source)) {}
    static int ready(sd_event_source* source, int fd, std::uint32_t events, void* action) noexcept;

    std::unique_ptr<Action> action_;
    EventSource source_;
};

/// A signal. The process must have blocked it before.
class Signal {
public:
    using Action = std::function<void()>;
    static Result<Signal> make(sd_event* loop, int number, Action action);

private:
    Signal(std::unique_ptr<Action> action, EventSource source)
        : action_(std::move(action)), source_(std::move(source)) {}
    static int received(sd_event_source* source, const struct signalfd_siginfo* info, void* action) noexcept;

    std::unique_ptr<Action> action_;
    EventSource source_;
};

/// Events of a folder and the files in it (inotify(7)).
class Inotify {
public:
    using Action = std::function<void(std::uint32_t events, std::string_view name)>; ///< IN_CREATE, …
    static Result<Inotify> make(sd_event* loop, const std::string& path, std::uint32_t events, Action action);

private:
    Inotify(std::unique_ptr<Action> action, EventSource source)
        : action_(std::move(action)), source_(std::move(source)) {}
    static int happened(sd_event_source* source, const struct inotify_event* event, void* action) noexcept;

    std::unique_ptr<Action> action_;
    EventSource source_;
};

/// Runs its action once after soon(), when all pending events have been handled, however often soon() is
/// called.
class Deferred {
public:
    using Action = std::function<void()>;
    static Result<Deferred> make(sd_event* loop, Priority priority, Action action);
    void soon();

private:
    Deferred(std::unique_ptr<Action> action, EventSource source)
        : action_(std::move(action)), source_(std::move(source)) {}
    static int run(sd_event_source* source, void* action) noexcept;

    std::unique_ptr<Action> action_;
    EventSource source_;
};

} // namespace teamo
