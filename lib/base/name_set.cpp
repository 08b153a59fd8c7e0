// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/name_set.h"

#include <functional>
#include <mutex>
#include <set>
#include <string>

namespace teamo {

std::string_view kept_once(std::string_view name) {
    static std::mutex mutex;
    static std::set<std::string, std::less<>> names;
    const std::lock_guard lock(mutex);
    if (const auto known = names.find(name); known != names.end()) return *known;
    return names.size() < most_names ? *names.emplace(name).first : std::string_view{};
}

} // namespace teamo
