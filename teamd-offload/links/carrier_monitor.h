// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Sees a port's lost carrier at once where the kernel would tell a second late: by programs on the kernel's
// carrier functions, or, where it does not let itself be traced, by asking every 10 ms. Ports whose news are
// not late cost nothing.
#pragma once

#include "datapath/carrier_watch.h"
#include "kernel/files/carrier_count.h"
#include "links/observer.h"
#include "log.h"
#include "loop.h"

#include <map>
#include <memory>
#include <optional>
#include <set>

namespace teamo {

class CarrierMonitor {
public:
    static Result<std::unique_ptr<CarrierMonitor>> make(sd_event* loop, const Log& log, Observer& observer);

    /// These are the team's ports, and are as the observer shows them: to be called after each pass.
    void follow(const std::set<IfIndex>& ports);

private:
    CarrierMonitor(sd_event* loop, const Log& log, Observer& observer)
        : loop_(loop), log_(log), observer_(observer) {}
    void trace();
    void receive();
    bool can_lose_carrier_unseen(IfIndex port) const;
    void poll(const std::set<IfIndex>& ports);
    void ask();

    struct Polled {
        CarrierCount count;
        int losses, changes; ///< as last read
    };
    static Result<Polled> start_counting(const Link& link);

    sd_event* loop_;
    const Log& log_;
    Observer& observer_;
    bool decided_ = false; ///< whether it is programs or asking: not before there is a port that needs either
    std::optional<CarrierWatch> programs_;
    std::optional<Io> io_;
    std::map<IfIndex, Polled> polled_;
    std::optional<Timer> timer_;
    std::set<IfIndex> followed_; ///< by whichever of the two
    std::set<IfIndex> fresh_;    ///< of these, not looked at since
    std::optional<Deferred> look_;
};

} // namespace teamo
