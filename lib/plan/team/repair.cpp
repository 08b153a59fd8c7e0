// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/team/repair.h"

namespace teamo {

Repair::Act Repair::step(bool wrong, Time now) {
    waits_ = false;
    if (!wrong) {
        given_up_ = false; // repaired by another program
        return Act::nothing;
    }
    if (given_up_) return Act::nothing;
    if (attempts_ > 0 && now - last_ >= peace) attempts_ = 0;
    if (attempts_ > 0 && now < next_) {
        waits_ = true;
        return Act::nothing;
    }
    if (attempts_ == most) {
        given_up_ = true;
        attempts_ = 0;
        return Act::give_up;
    }
    ++attempts_;
    last_ = next_ = now;
    if (attempts_ >= at_once) next_ += first_wait * (1U << (attempts_ - at_once));
    return Act::attempt;
}

} // namespace teamo
