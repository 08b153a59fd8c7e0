// SPDX-License-Identifier: LGPL-2.1-or-later
#include "loop.h"

#include <sys/inotify.h>

namespace teamo {

Result<EventLoop> make_loop() {
    sd_event* loop = nullptr;
    if (const int error = sd_event_new(&loop); error < 0)
        return fail_errno(-error, "cannot create an event loop");
    return EventLoop(loop);
}

Result<Timer> Timer::make(sd_event* loop, Action action) {
    auto kept = std::make_unique<Action>(std::move(action));
    sd_event_source* source = nullptr;
    // Accuracy 1 µs; the default would add up to 250 ms to a delay_up.
    if (const int error =
            sd_event_add_time(loop, &source, CLOCK_MONOTONIC, UINT64_MAX, 1, &Timer::expired, kept.get());
        error < 0)
        return fail_errno(-error, "cannot create a timer");
    sd_event_source_set_priority(source, static_cast<int>(Priority::timer));
    sd_event_source_set_enabled(source, SD_EVENT_OFF);
    return Timer(std::move(kept), EventSource(source));
}

void Timer::at(std::chrono::steady_clock::time_point when) {
    // steady_clock is CLOCK_MONOTONIC in libstdc++.
    const auto since = std::chrono::ceil<std::chrono::microseconds>(when.time_since_epoch());
    sd_event_source_set_time(source_.get(), static_cast<std::uint64_t>(since.count()));
    sd_event_source_set_enabled(source_.get(), SD_EVENT_ONESHOT);
}

void Timer::stop() { sd_event_source_set_enabled(source_.get(), SD_EVENT_OFF); }

// C code calls the functions below, and cannot pass exceptions on: an exception ends the process.
int Timer::expired(sd_event_source* /*source*/, std::uint64_t /*now*/, void* action) noexcept {
    (*static_cast<Action*>(action))();
    return 0;
}

Result<Io> Io::make(sd_event* loop, int fd, std::uint32_t events, Priority priority, Action action) {
    auto kept = std::make_unique<Action>(std::move(action));
    sd_event_source* source = nullptr;
    if (const int error = sd_event_add_io(loop, &source, fd, events, &Io::ready, kept.get()); error < 0)
        return fail_errno(-error, "cannot watch a file descriptor");
    sd_event_source_set_priority(source, static_cast<int>(priority));
    return Io(std::move(kept), EventSource(source));
}

void Io::set_events(std::uint32_t events) { sd_event_source_set_io_events(source_.get(), events); }

int Io::ready(sd_event_source* /*source*/, int /*fd*/, std::uint32_t events, void* action) noexcept {
    // A copy: the action may destroy its own Io, as a client that hangs up does.
    const Action copy = *static_cast<Action*>(action);
    copy(events);
    return 0;
}

Result<Signal> Signal::make(sd_event* loop, int number, Action action) {
    auto kept = std::make_unique<Action>(std::move(action));
    sd_event_source* source = nullptr;
    if (const int error = sd_event_add_signal(loop, &source, number, &Signal::received, kept.get());
        error < 0)
        return fail_errno(-error, fmt::format("cannot handle signal {}", number));
    return Signal(std::move(kept), EventSource(source));
}

int Signal::received(sd_event_source* /*source*/, const struct signalfd_siginfo* /*info*/,
                     void* action) noexcept {
    (*static_cast<Action*>(action))();
    return 0;
}

Result<Inotify> Inotify::make(sd_event* loop, const std::string& path, std::uint32_t events, Action action) {
    auto kept = std::make_unique<Action>(std::move(action));
    sd_event_source* source = nullptr;
    if (const int error =
            sd_event_add_inotify(loop, &source, path.c_str(), events, &Inotify::happened, kept.get());
        error < 0)
        return fail_errno(-error, path);
    return Inotify(std::move(kept), EventSource(source));
}

int Inotify::happened(sd_event_source* /*source*/, const inotify_event* event, void* action) noexcept {
    // A copy: the action may destroy its own Inotify, as when the folder is gone.
    const Action copy = *static_cast<Action*>(action);
    copy(event->mask, event->len > 0 ? std::string_view(event->name) : std::string_view());
    return 0;
}

Result<Deferred> Deferred::make(sd_event* loop, Priority priority, Action action) {
    auto kept = std::make_unique<Action>(std::move(action));
    sd_event_source* source = nullptr;
    if (const int error = sd_event_add_defer(loop, &source, &Deferred::run, kept.get()); error < 0)
        return fail_errno(-error, "cannot create a deferred action");
    sd_event_source_set_priority(source, static_cast<int>(priority));
    sd_event_source_set_enabled(source, SD_EVENT_OFF);
    return Deferred(std::move(kept), EventSource(source));
}

void Deferred::soon() { sd_event_source_set_enabled(source_.get(), SD_EVENT_ONESHOT); }

int Deferred::run(sd_event_source* /*source*/, void* action) noexcept {
    (*static_cast<Action*>(action))();
    return 0;
}

} // namespace teamo
