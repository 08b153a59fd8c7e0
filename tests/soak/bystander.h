// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "support/daemon/team_under_test.h"
#include "support/net/cabling.h"

#include <string>

namespace teamo::soak {

/// A second team in the same namespace, to which nothing is done: nothing about a team is global.
class Bystander {
public:
    explicit Bystander(const test::Cabling& wires);
    /// Its devices, their filters and its journal are what they were.
    std::string wrong() const;
    pid_t pid() const { return team_.pid(); }
    /// Throws SetupError if it does not end well.
    void stop();

    static constexpr const char* journal_file = "/run/teamd-offload/team1.json";

private:
    std::string text() const;

    const test::NetNs& host_;
    test::TeamUnderTest team_;
    std::string inner_, before_;
};

} // namespace teamo::soak
