// SPDX-License-Identifier: LGPL-2.1-or-later
//
// For tests that choose the datapath themselves.
#pragma once

#include "support/net_ns.h"
#include "support/process.h"

#include <cstdlib>
#include <optional>
#include <string>

namespace teamo::test {

/// Whether a team device can be made here, by ip(8) and not by the daemon's own code. The kernel loads the
/// driver when it is asked.
inline bool kernel_has_team_driver() {
    const auto apart = NetNs::create();
    return sh(apart, "ip link add dev probe0 type team").status == 0;
}

/// As long as this lives, no option from the environment is added to the daemon's own: an option that is
/// given twice is refused, whatever it says.
class NoOptionsForAll {
public:
    NoOptionsForAll() {
        if (const char* set = std::getenv(name)) options_ = set;
        ::unsetenv(name);
    }
    NoOptionsForAll(const NoOptionsForAll&) = delete;
    NoOptionsForAll& operator=(const NoOptionsForAll&) = delete;
    ~NoOptionsForAll() {
        if (options_) ::setenv(name, options_->c_str(), 1);
    }

private:
    static constexpr const char* name = "TEAMO_DAEMON_OPTIONS";
    std::optional<std::string> options_;
};

} // namespace teamo::test
