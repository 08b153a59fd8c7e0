// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/context/loop.h"

#include <sys/inotify.h>

#include <algorithm>

namespace teamo {

using namespace std::chrono_literals;

namespace {

/// `add`: an sd_event_add_*(), called with the arguments and the action.
template <class Made, class... Arguments>
Result<Made> make_source(sd_event* loop, typename Made::Action action, std::string_view failure, auto add,
                         Arguments... arguments) {
    auto kept = std::make_unique<typename Made::Action>(std::move(action));
    sd_event_source* source = nullptr;
    if (const int error = add(loop, &source, arguments..., kept.get()); error < 0)
        return fail_errno(-error, failure);
    return Made(std::move(kept), EventSource(source));
}

/// Runs a copy of the action, because the action may destroy its own source, as a client that hangs up does.
/// C code calls this and cannot pass exceptions on: an exception ends the process.
template <class Made, class... Arguments>
int run(void* action, Arguments... arguments) noexcept {
    const auto copy = *static_cast<typename Made::Action*>(action);
    copy(arguments...);
    return 0;
}

} // namespace

Result<EventLoop> make_loop() {
    sd_event* loop = nullptr;
    if (const int error = sd_event_new(&loop); error < 0)
        return fail_errno(-error, "cannot create an event loop");
    return EventLoop(loop);
}

Result<Timer> Timer::make(sd_event* loop, Action action) {
    constexpr std::uint64_t accuracy = 1; // µs; set() says it for each time
    const auto expired = [](sd_event_source*, std::uint64_t, void* kept) { return run<Timer>(kept); };
    auto timer =
        TEAMO_TRY(make_source<Timer>(loop, std::move(action), "cannot create a timer", sd_event_add_time,
                                     CLOCK_MONOTONIC, UINT64_MAX, accuracy, expired));
    sd_event_source_set_priority(timer.source_.get(), static_cast<int>(Priority::timer));
    timer.stop();
    return timer;
}

void Timer::at(std::chrono::steady_clock::time_point when) {
    set(when, 1us); // the default would add up to 250 ms to a delay_up
}

void Timer::about(std::chrono::microseconds delay) {
    const auto slack = std::min<std::chrono::microseconds>(delay / 2, 400ms);
    set(std::chrono::steady_clock::now() + delay - slack, 2 * slack);
}

void Timer::set(std::chrono::steady_clock::time_point when, std::chrono::microseconds accuracy) {
    // steady_clock is CLOCK_MONOTONIC in libstdc++.
    const auto since = std::chrono::ceil<std::chrono::microseconds>(when.time_since_epoch());
    sd_event_source_set_time(source_.get(), static_cast<std::uint64_t>(since.count()));
    sd_event_source_set_time_accuracy(source_.get(), static_cast<std::uint64_t>(accuracy.count()));
    sd_event_source_set_enabled(source_.get(), SD_EVENT_ONESHOT);
}

void Timer::stop() { sd_event_source_set_enabled(source_.get(), SD_EVENT_OFF); }

Result<Io> Io::make(sd_event* loop, int fd, std::uint32_t events, Priority priority, Action action) {
    const auto ready = [](sd_event_source*, int, std::uint32_t now, void* kept) {
        return run<Io>(kept, now);
    };
    auto io = TEAMO_TRY(make_source<Io>(loop, std::move(action), "cannot watch a file descriptor",
                                        sd_event_add_io, fd, events, ready));
    sd_event_source_set_priority(io.source_.get(), static_cast<int>(priority));
    return io;
}

void Io::set_events(std::uint32_t events) { sd_event_source_set_io_events(source_.get(), events); }

void Io::limit() {
    constexpr std::chrono::microseconds interval = 20ms;
    sd_event_source_set_ratelimit(source_.get(), static_cast<std::uint64_t>(interval.count()), 8);
}

Result<Signal> Signal::make(sd_event* loop, int number, Action action) {
    const auto received = [](sd_event_source*, const signalfd_siginfo*, void* kept) {
        return run<Signal>(kept);
    };
    return make_source<Signal>(loop, std::move(action), fmt::format("cannot handle signal {}", number),
                               sd_event_add_signal, number, received);
}

Result<Inotify> Inotify::make(sd_event* loop, const std::string& path, std::uint32_t events, Action action) {
    const auto happened = [](sd_event_source*, const inotify_event* event, void* kept) {
        const std::string_view name(event->len > 0 ? event->name : "");
        return run<Inotify>(kept, event->mask, name);
    };
    return make_source<Inotify>(loop, std::move(action), path, sd_event_add_inotify, path.c_str(), events,
                                happened);
}

Result<Deferred> Deferred::make(sd_event* loop, Priority priority, Action action) {
    const auto called = [](sd_event_source*, void* kept) { return run<Deferred>(kept); };
    auto deferred = TEAMO_TRY(make_source<Deferred>(
        loop, std::move(action), "cannot create a deferred action", sd_event_add_defer, called));
    sd_event_source_set_priority(deferred.source_.get(), static_cast<int>(priority));
    sd_event_source_set_enabled(deferred.source_.get(), SD_EVENT_OFF);
    return deferred;
}

void Deferred::soon() { sd_event_source_set_enabled(source_.get(), SD_EVENT_ONESHOT); }

} // namespace teamo
