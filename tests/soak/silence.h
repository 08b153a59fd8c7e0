// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/handle.h"
#include "support/net/net_ns.h"

#include <string>
#include <vector>

namespace teamo::soak {

/// Hears which devices, filters and addresses change, and whether a journal is written, while it lives.
class Silence {
public:
    Silence(const test::NetNs& in, std::vector<std::string> journals);
    /// What has changed since it began; "" if nothing has.
    std::string broken() const;

private:
    std::vector<std::string> journals_;
    std::string written_; ///< which files they were, and when they were written
    UniqueFd events_;
};

} // namespace teamo::soak
