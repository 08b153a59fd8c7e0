// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lacp/churn_machine.h"

namespace teamo::lacp {

void ChurnMachine::step(bool port_enabled, bool in_sync, Clock::time_point now) {
    if (!port_enabled || in_sync) {
        state_ = ChurnState::no_churn;
        detection_.reset();
    } else if (state_ == ChurnState::no_churn) {
        state_ = ChurnState::monitor;
        detection_ = now + churn_detection_time;
    } else if (detection_ && now >= *detection_) {
        state_ = ChurnState::churn;
        detection_.reset();
    }
}

} // namespace teamo::lacp
