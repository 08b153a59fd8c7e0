// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "model/workers.h"

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace teamo {

/// The first rule that matches the worker, or nullptr. `users`: ids of the users that rules name.
const WorkerRule* rule_for(const Worker& worker, std::span<const WorkerRule> rules,
                           const std::map<std::string, uid_t>& users);

/// Glob match as in "worker@*.service": * is any number of characters, ? is one.
bool matches(std::string_view pattern, std::string_view name);

} // namespace teamo
