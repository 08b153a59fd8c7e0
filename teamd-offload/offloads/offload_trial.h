// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Switches a port's TSO off and on for a measurement (teamoctl doctor). The client may be killed at any
// moment, and so may this daemon: a trial ends by itself, and the journal has the previous settings until
// then.
#pragma once

#include "journal_keeper.h"
#include "kernel/ethtool/ethtool.h"
#include "log.h"
#include "loop.h"
#include "model/status.h"

#include <memory>

namespace teamo {

class OffloadTrial {
public:
    static Result<std::unique_ptr<OffloadTrial>> make(sd_event* loop, const Log& log, Ethtool& ethtool,
                                                      JournalKeeper& journal);
    ~OffloadTrial() { end(); }
    OffloadTrial(const OffloadTrial&) = delete;
    OffloadTrial& operator=(const OffloadTrial&) = delete;

    /// on, off: begins a trial, or continues it for five more seconds. EBUSY: another port is being tried;
    /// EOPNOTSUPP: TSO cannot be switched.
    Result<> request(IfIndex port, const std::string& name, TrialState state);

    /// While true, changes of the port's features are ignored and not repaired.
    bool runs_on(IfIndex port) const { return tried_ && *tried_ == port; }

    /// Ends a trial, if one runs, and restores the features. `port`: only a trial on this port.
    void end(IfIndex port = {});
    /// Ends a trial whose port is gone: there is nothing to restore.
    void forget_vanished();
    /// Ends the trials of an earlier daemon that was killed.
    void end_leftovers(std::vector<PortBefore>& ports) const;

private:
    OffloadTrial(const Log& log, Ethtool& ethtool, JournalKeeper& journal)
        : log_(log), ethtool_(ethtool), journal_(journal) {}
    Result<> begin(IfIndex port, const std::string& name);
    void restore(PortBefore& port) const;

    const Log& log_;
    Ethtool& ethtool_;
    JournalKeeper& journal_;
    std::optional<IfIndex> tried_;
    std::optional<Timer> limit_;
};

} // namespace teamo
