// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/cpus/user_lookup.h"

#include "workers/processes.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <thread>

namespace teamo {

void UserLookup::begin(const std::vector<WorkerRule>& rules) {
    const auto names_user = [](const WorkerRule& rule) { return rule.selector == WorkerSelector::user; };
    next_.reset();
    if (std::ranges::none_of(rules, names_user)) {
        result_ = {};
        return;
    }
    next_ = rules;
    if (!result_.valid()) start();
}

void UserLookup::start() {
    std::packaged_task<Users()> task([rules = *next_] { return resolve_users(rules); });
    auto result = task.get_future();
    try {
        std::thread(std::move(task)).detach(); // nobody can end a look-up that waits
    } catch (const std::system_error&) {
        return; // no memory for a thread now: take() tries again
    }
    result_ = std::move(result);
    next_.reset();
}

std::optional<UserLookup::Users> UserLookup::take() {
    if (result_.valid()) {
        if (result_.wait_for(std::chrono::seconds{0}) != std::future_status::ready) return std::nullopt;
        auto users = result_.get();
        if (!next_) return users;
    }
    if (next_) start();
    return std::nullopt;
}

} // namespace teamo
