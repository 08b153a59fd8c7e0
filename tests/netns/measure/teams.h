// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdlib>

namespace teamo::test {

/// How many teams a measurement makes: TEAMO_TEAMS, or 8.
inline unsigned teams() {
    const auto* wanted = std::getenv("TEAMO_TEAMS");
    return wanted == nullptr ? 8 : static_cast<unsigned>(std::atoi(wanted));
}

} // namespace teamo::test
