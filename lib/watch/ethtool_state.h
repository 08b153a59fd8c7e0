// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.h"
#include "model/config.h"

#include <optional>

namespace teamo {

/// teamd's "ethtool" watch (teamd_lw_ethtool.c): the device's link, with optional delays for up and down. A
/// change that reverts within the delay is ignored.
class EthtoolState {
public:
    /// `up`: the initial state; true for a port that carried under an earlier daemon.
    EthtoolState(EthtoolWatch watch, bool up) : watch_(watch), up_(up) {}

    /// Takes the present link of the device; call it also at deadline().
    void step(bool link, Clock::time_point now);

    /// A link that waits for its delay is up.
    void end_delay_up();

    bool up() const { return up_; }
    std::uint32_t down_count() const { return down_count_; }
    const EthtoolWatch& watch() const { return watch_; }
    /// When to call step() again even without an event.
    std::optional<Clock::time_point> deadline() const { return deadline_; }

private:
    EthtoolWatch watch_;
    bool up_;
    std::uint32_t down_count_ = 0;
    std::optional<Clock::time_point> deadline_; ///< when the pending change takes effect
};

} // namespace teamo
