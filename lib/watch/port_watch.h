// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The link watches of one port: values with events in and a verdict out, the clock passed in.
#pragma once

#include "base/clock.h"
#include "model/config.h"
#include "model/status.h"

#include <chrono>
#include <optional>
#include <vector>

namespace teamo {

/// teamd's "ethtool" watch (teamd_lw_ethtool.c): the device's link, its edges delayed on request. A link
/// that turns back before its delay is over has not changed.
class EthtoolState {
public:
    /// A port that carried already, in the life of an earlier daemon, starts as `up`.
    EthtoolState(EthtoolWatch watch, bool up) : watch_(watch), up_(up) {}

    /// The device's link as seen now; also called when deadline() has come.
    void step(bool link, Clock::time_point now);

    bool up() const { return up_; }
    std::uint32_t down_count() const { return down_count_; }
    /// When step() wants to be called again though nothing happened.
    std::optional<Clock::time_point> deadline() const { return deadline_; }

private:
    EthtoolWatch watch_;
    bool up_;
    std::uint32_t down_count_ = 0;
    std::optional<Clock::time_point> deadline_; ///< when the pending edge counts
};

/// All watches of a port, put together by the policy.
class PortWatch {
public:
    PortWatch(const std::vector<LinkWatch>& watches, LinkWatchPolicy policy, bool up);

    void step(bool link, Clock::time_point now);
    bool up() const;
    std::optional<Clock::time_point> deadline() const;
    std::vector<WatchStatus> status() const;

private:
    LinkWatchPolicy policy_;
    std::vector<EthtoolWatch> configured_;
    std::vector<EthtoolState> states_;
};

/// Whether every watch is of a kind that runs today; the name of the first that is not, else empty.
std::string_view unsupported_watch(const std::vector<LinkWatch>& watches);

} // namespace teamo
