// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Switches a port's TSO off and on for a measurement (teamoctl doctor). The client may be killed at any
// moment, and so may this daemon: a trial ends by itself, and the previous settings are in a file until then.
#pragma once

#include "kernel/ethtool/ethtool.h"
#include "log.h"
#include "loop.h"
#include "model/benchmark.h"

#include <memory>

namespace teamo {

class OffloadTrial {
public:
    /// Ends a trial of an earlier daemon of this team that was killed.
    static Result<std::unique_ptr<OffloadTrial>> make(sd_event* loop, const Log& log, Ethtool& ethtool,
                                                      std::string team);
    ~OffloadTrial() { end(); }
    OffloadTrial(const OffloadTrial&) = delete;
    OffloadTrial& operator=(const OffloadTrial&) = delete;

    /// on, off: begins a trial, or continues it for five more seconds. EBUSY: another port is being tried;
    /// EOPNOTSUPP: TSO cannot be switched.
    Result<> request(IfIndex port, const std::string& name, TrialState state);

    /// The features that a trial switches, as they were; nullptr: no trial on this port. During a trial their
    /// changes are ignored and not repaired.
    const FeatureSettings* held(IfIndex port) const {
        return tried_ && tried_->index == port ? &tried_->before : nullptr;
    }

    /// Ends a trial, if one runs, and restores the features. `port`: only a trial on this port.
    void end(IfIndex port = {});

    struct Tried {
        IfIndex index;
        std::string name;
        FeatureSettings before; ///< the features that the trial switches, as they were
        bool operator==(const Tried&) const = default;
    };

private:
    OffloadTrial(const Log& log, Ethtool& ethtool, std::string team)
        : log_(log), ethtool_(ethtool), team_(std::move(team)) {}
    void end_leftover();
    Result<> begin(IfIndex port, const std::string& name);

    const Log& log_;
    Ethtool& ethtool_;
    std::string team_;
    std::optional<Tried> tried_;
    std::optional<Timer> limit_;
};

} // namespace teamo
