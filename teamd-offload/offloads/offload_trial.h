// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A port's TSO switched off and on for a measurement (teamoctl doctor). Whoever measures may die at any
// moment, and so may this daemon: a trial ends by itself, and what was before is in a file until it has.
#pragma once

#include "kernel/ethtool/ethtool.h"
#include "log.h"
#include "loop.h"
#include "model/benchmark.h"

#include <memory>

namespace teamo {

class OffloadTrial {
public:
    /// Ends a trial that an earlier daemon of this team began and did not live to end.
    static Result<std::unique_ptr<OffloadTrial>> make(sd_event* loop, const Log& log, Ethtool& ethtool,
                                                      std::string team);
    ~OffloadTrial() { end(); }
    OffloadTrial(const OffloadTrial&) = delete;
    OffloadTrial& operator=(const OffloadTrial&) = delete;

    /// on, off: begins a trial, or continues it for five more seconds. EBUSY: another port is in trial;
    /// EOPNOTSUPP: TSO cannot be switched.
    Result<> request(IfIndex port, const std::string& name, TrialState state);

    /// The features of the port that a trial switches, as they were; none while it is not tried. Meanwhile
    /// what they are like is nobody's choice and nothing to be mended.
    const FeatureSettings* held(IfIndex port) const {
        return tried_ && tried_->index == port ? &tried_->before : nullptr;
    }

    /// Puts back what was, if a trial runs; of that port only, if one is named (it leaves, or is gone).
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
    void take_up_leftover();
    Result<> begin(IfIndex port, const std::string& name);

    const Log& log_;
    Ethtool& ethtool_;
    std::string team_;
    std::optional<Tried> tried_;
    std::optional<Timer> limit_;
};

} // namespace teamo
