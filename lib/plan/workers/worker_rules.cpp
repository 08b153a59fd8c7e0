// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/workers/worker_rules.h"

#include <algorithm>

namespace teamo {
namespace {

constexpr std::size_t longest_command = 15; // TASK_COMM_LEN, less the NUL

/// "/a" contains "/a" and "/a/b", but not "/ab".
bool is_within(std::string_view cgroup, std::string_view holder) {
    while (holder.ends_with('/'))
        holder.remove_suffix(1);
    return cgroup.starts_with(holder) && (cgroup.size() == holder.size() || cgroup[holder.size()] == '/');
}

bool fits(const WorkerRule& rule, const Worker& worker, const std::map<std::string, uid_t>& users) {
    switch (rule.selector) {
    case WorkerSelector::unit: return !worker.unit.empty() && matches(rule.name, worker.unit);
    case WorkerSelector::cgroup: return is_within(worker.cgroup, rule.name);
    case WorkerSelector::command:
        // The kernel cuts longer names.
        return matches(rule.name, worker.command) ||
               (rule.name.size() > longest_command && rule.name.substr(0, longest_command) == worker.command);
    case WorkerSelector::user: {
        const auto user = users.find(rule.name);
        return user != users.end() && user->second == worker.user;
    }
    }
    return false;
}

} // namespace

const WorkerRule* rule_for(const Worker& worker, std::span<const WorkerRule> rules,
                           const std::map<std::string, uid_t>& users) {
    const auto found =
        std::ranges::find_if(rules, [&](const WorkerRule& rule) { return fits(rule, worker, users); });
    return found == rules.end() ? nullptr : &*found;
}

bool matches(std::string_view pattern, std::string_view name) {
    // After a mismatch the last * takes one more character; earlier ones need no other attempt.
    std::size_t at = 0, star = std::string_view::npos, taken = 0, here = 0;
    while (here < name.size()) {
        if (at < pattern.size() && pattern[at] == '*') {
            star = at++;
            taken = here;
        } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == name[here])) {
            ++at;
            ++here;
        } else if (star != std::string_view::npos) {
            at = star + 1;
            here = ++taken;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

} // namespace teamo
