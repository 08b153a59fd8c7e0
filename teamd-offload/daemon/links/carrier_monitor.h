// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Detects a port's lost carrier at once if the kernel would report it up to a second late: by programs on the
// kernel's carrier functions or, if the kernel does not allow tracing, by polling every 10 ms. Ports whose
// events are not delayed cost nothing.
#pragma once

#include "daemon/context/loop.h"
#include "daemon/context/team_context.h"
#include "datapath/carrier_watch.h"
#include "kernel/files/device_files.h"

#include <map>
#include <memory>
#include <optional>
#include <set>

namespace teamo {

class CarrierMonitor {
public:
    static Result<std::unique_ptr<CarrierMonitor>> make(TeamContext& context);

    /// Sets the team's ports. Call it after each pass, with the observer up to date.
    void follow(const std::set<IfIndex>& ports);

private:
    explicit CarrierMonitor(TeamContext& context) : context_(context) {}
    Result<> trace();
    void report(const CarrierWatch::Changes& changes);
    void poll(const std::set<IfIndex>& ports);
    void poll_counts();
    void poll_soon();
    std::chrono::milliseconds period() const;

    struct Polled {
        CarrierCount count;
        int losses, changes; ///< as last read
    };
    static Result<Polled> start_counting(const Link& link);

    TeamContext& context_;
    bool decided_ = false;  ///< programs or polling; false: no port has needed either yet
    bool can_wait_ = false; ///< for news of a lost link, for a second
    std::optional<CarrierWatch> programs_;
    std::optional<Io> io_;
    std::map<IfIndex, Polled> polled_;
    std::optional<Timer> timer_;
    std::set<IfIndex> followed_; ///< by either of the two
    bool again_ = false;         ///< some of these are refused: the next pass tries them again
    LogOnce failure_{};
    std::set<IfIndex> unread_; ///< of these, not read since they were added
    std::optional<Deferred> reread_;
};

} // namespace teamo
