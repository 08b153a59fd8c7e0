// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "support/daemon/team_under_test.h"

#include <map>
#include <string>
#include <vector>

namespace teamo::test {

struct ReportedMove {
    unsigned bucket = 0;
    std::string from, to, reason, end;
    double gain = 0; ///< per cent
    milliseconds waited{0};
};

/// The "balance" object of a team's state.
struct BalanceState {
    bool counted = false, frozen = false;
    std::vector<std::string> port;      ///< by bucket
    std::vector<double> bytes;          ///< by bucket, per second
    std::vector<unsigned> busiest;      ///< buckets in use, highest load first
    std::map<std::string, double> load; ///< by port, bytes per second, smoothed over an interval
    std::map<std::string, double> rate; ///< by port, bytes in the last second
    std::map<std::string, double> planned;
    unsigned pending = 0;
    std::vector<std::string> ends;   ///< of the moves that ended, latest first
    std::vector<ReportedMove> moves; ///< those under way, then those that ended, latest first
    unsigned buckets_of(const std::string& name) const;
    /// Buckets with more than this many bytes/s, by number.
    std::vector<unsigned> heavy(double bytes_per_second) const;
};
BalanceState balance_of(const TeamUnderTest& team);

} // namespace teamo::test
