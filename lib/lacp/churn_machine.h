// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Churn detection: a side does not get into synchronization within 60 seconds. One machine for the actor, one
// for the partner. IEEE 802.1AX-2020, 6.4.16.
#pragma once

#include "base/named.h"
#include "lacp/variables.h"

#include <optional>

namespace teamo::lacp {

class ChurnMachine {
public:
    /// `in_sync`: that side's synchronization.
    void step(bool port_enabled, bool in_sync, Clock::time_point now);

    ChurnState state() const { return state_; }
    std::optional<Clock::time_point> deadline() const { return detection_; }

private:
    ChurnState state_ = ChurnState::no_churn;
    std::optional<Clock::time_point> detection_;
};

} // namespace teamo::lacp
