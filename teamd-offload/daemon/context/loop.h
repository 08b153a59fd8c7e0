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

/// A source of events and what it runs.
template <class... Arguments>
class Source {
public:
    using Action = std::function<void(Arguments...)>;
    Source(std::unique_ptr<Action> action, EventSource source)
        : action_(std::move(action)), source_(std::move(source)) {}

protected:
    std::unique_ptr<Action> action_; // before the source, which points at it
    EventSource source_;
};

/// Expires once; can be set again.
class Timer : public Source<> {
public:
    using Source::Source;
    static Result<Timer> make(sd_event* loop, Action action);

    void at(std::chrono::steady_clock::time_point when);
    void after(std::chrono::microseconds delay) { at(std::chrono::steady_clock::now() + delay); }
    /// At about that time, at most half the delay or 0.4 s off: all that wait so wake the process once.
    void about(std::chrono::microseconds delay);
    void stop();

private:
    void set(std::chrono::steady_clock::time_point when, std::chrono::microseconds accuracy);
};

/// Runs its action with EPOLLIN, EPOLLOUT, EPOLLHUP, … of a descriptor, which it does not own.
class Io : public Source<std::uint32_t> {
public:
    using Source::Source;
    static Result<Io> make(sd_event* loop, int fd, std::uint32_t events, Priority priority, Action action);
    void set_events(std::uint32_t events);
    /// For what a neighbour can flood: runs at most 8 times in 20 ms, so that sources of lower priority run
    /// too.
    void limit();
};

/// A signal. The process must have blocked it before.
class Signal : public Source<> {
public:
    using Source::Source;
    static Result<Signal> make(sd_event* loop, int number, Action action);
};

/// Events (IN_CREATE, …) of a folder and the files in it, with the name of the file (inotify(7)).
class Inotify : public Source<std::uint32_t, std::string_view> {
public:
    using Source::Source;
    static Result<Inotify> make(sd_event* loop, const std::string& path, std::uint32_t events, Action action);
};

/// Runs its action once, however often soon() was called, when all pending events have been handled.
class Deferred : public Source<> {
public:
    using Source::Source;
    static Result<Deferred> make(sd_event* loop, Priority priority, Action action);
    void soon();
};

} // namespace teamo
