// SPDX-License-Identifier: LGPL-2.1-or-later
//
// For tests that select the datapath themselves.
#pragma once

#include "support/daemon/process.h"
#include "support/net/net_ns.h"

#include <cstdlib>
#include <optional>
#include <string>

namespace teamo::test {

/// Whether ip(8) can create a device of the driver here: team or bond. The kernel loads the driver on demand.
inline bool kernel_has_driver(const std::string& kind) {
    const auto apart = NetNs::create();
    return sh(apart, "ip link add dev probe0 type " + kind).status == 0;
}

/// While this object lives, the daemon gets only the options of the test, so no --datapath by default.
class NoOptionsForAll {
public:
    NoOptionsForAll() {
        if (const char* set = std::getenv(name)) options_ = set;
        ::setenv(name, "", 1);
    }
    NoOptionsForAll(const NoOptionsForAll&) = delete;
    NoOptionsForAll& operator=(const NoOptionsForAll&) = delete;
    ~NoOptionsForAll() {
        if (options_)
            ::setenv(name, options_->c_str(), 1);
        else
            ::unsetenv(name);
    }

private:
    static constexpr const char* name = "TEAMO_DAEMON_OPTIONS";
    std::optional<std::string> options_;
};

} // namespace teamo::test
