// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/ethtool_state.h"

namespace teamo {

void EthtoolState::step(bool link, Clock::time_point now) {
    if (link == up_) {
        deadline_.reset();
        return;
    }
    const auto delay = link ? watch_.delay_up : watch_.delay_down;
    if (!deadline_) deadline_ = now + delay;
    if (now < *deadline_) return;
    deadline_.reset();
    up_ = link;
    if (!link) ++down_count_;
}

void EthtoolState::end_delay_up() {
    if (up_ || !deadline_) return;
    deadline_.reset();
    up_ = true;
}

} // namespace teamo
