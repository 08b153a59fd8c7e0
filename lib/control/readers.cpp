// SPDX-License-Identifier: LGPL-2.1-or-later
#include "control/readers.h"

namespace teamo::control {

Readers::Place Readers::enter(uid_t user, Time now) {
    std::erase_if(users_, [now](const auto& known) {
        return known.second.connections == 0 && known.second.budget.is_full(now);
    });
    if (connections_ >= max_connections) return Place::too_many;
    auto& known = users_[user];
    if (known.connections >= max_of_user) return Place::user_has_too_many;
    ++known.connections;
    ++connections_;
    return Place::given;
}

/// Who connects anew does not get a new budget.
void Readers::leave(uid_t user, Time now) {
    const auto known = users_.find(user);
    if (known == users_.end() || known->second.connections == 0) return;
    --connections_;
    if (--known->second.connections == 0 && known->second.budget.is_full(now)) users_.erase(known);
}

void Readers::spend(uid_t user, std::chrono::nanoseconds cpu, Time now) {
    users_[user].budget.spend(cpu, now);
    all_.spend(cpu, now);
}

Readers::Time Readers::ready(uid_t user) const {
    const auto known = users_.find(user);
    return known == users_.end() ? all_.ready() : std::max(known->second.budget.ready(), all_.ready());
}

} // namespace teamo::control
