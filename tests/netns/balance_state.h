// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "support/team_under_test.h"

#include <map>
#include <string>
#include <vector>

namespace teamo::test {

/// What a team's state says of its balance.
struct BalanceState {
    bool counted = false, frozen = false;
    std::vector<std::string> port;      ///< by bucket
    std::vector<double> bytes;          ///< by bucket, per second
    std::vector<unsigned> busiest;      ///< buckets in use, the fullest first
    std::map<std::string, double> load; ///< by port, bytes per second
    std::map<std::string, double> planned;
    unsigned pending = 0;
    std::vector<std::string> ends; ///< of the moves that ended, latest first
    unsigned buckets_of(const std::string& name) const;
};
BalanceState balance_of(const TeamUnderTest& team);

} // namespace teamo::test
