// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/waits.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

namespace teamo::ctl {
namespace {

void write_progress(const std::string& text) {
    if (text.empty()) return;
    std::fputs(text.c_str(), stderr);
    std::fflush(stderr);
}

} // namespace

Waits::Waits(std::string title) : notice_(std::move(title), ::isatty(STDERR_FILENO) != 0) {}

Waits::Scope Waits::usual(std::string what, std::chrono::milliseconds at_most) {
    return begin({.what = std::move(what), .at_most = at_most});
}

Waits::Scope Waits::slow(std::string what, std::chrono::milliseconds at_most) {
    return begin({.what = std::move(what), .at_most = at_most, .is_usual = false});
}

Waits::Scope Waits::begin(WaitReason reason) {
    const std::lock_guard lock(mutex_);
    if (notice_.waits()) return Scope(nullptr);
    const auto now = Clock::now();
    notice_.begin(std::move(reason), now);
    write_progress(notice_.due(now));
    has_changed_ = true;
    changed_.notify_all();
    if (!writer_.joinable()) writer_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
    return Scope(this);
}

void Waits::run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
        has_changed_ = false;
        const auto changed = [this] { return has_changed_; };
        if (const auto deadline = notice_.deadline())
            changed_.wait_until(lock, stop, *deadline, changed);
        else
            changed_.wait(lock, stop, changed);
        if (!stop.stop_requested()) write_progress(notice_.due(Clock::now()));
    }
}

Waits::Scope::~Scope() {
    if (waits_ == nullptr) return;
    const std::lock_guard lock(waits_->mutex_);
    write_progress(waits_->notice_.end());
}

void Waits::Scope::detail(std::string text) {
    if (waits_ == nullptr) return;
    const std::lock_guard lock(waits_->mutex_);
    waits_->notice_.detail(std::move(text), Clock::now());
    waits_->has_changed_ = true;
    waits_->changed_.notify_all();
}

} // namespace teamo::ctl
