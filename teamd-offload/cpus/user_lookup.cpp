// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpus/user_lookup.h"

#include "workers/processes.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <thread>

namespace teamo {

void UserLookup::begin(const std::vector<WorkerRule>& rules) {
    const auto look_up = [rules] { return resolve_users(rules); };
    std::packaged_task<Users()> task(look_up);
    result_ = task.get_future();
    const auto names_user = [](const WorkerRule& rule) { return rule.selector == WorkerSelector::user; };
    if (std::ranges::none_of(rules, names_user)) return task();
    try {
        std::thread(std::move(task)).detach(); // nobody can end a look-up that waits
    } catch (const std::system_error&) {       // no memory for a thread
        task = std::packaged_task<Users()>(look_up);
        result_ = task.get_future();
        task();
    }
}

std::optional<UserLookup::Users> UserLookup::take() {
    if (!result_.valid() || result_.wait_for(std::chrono::seconds{0}) != std::future_status::ready)
        return std::nullopt;
    return result_.get();
}

} // namespace teamo
