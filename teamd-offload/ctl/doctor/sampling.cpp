// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/doctor/sampling.h"

#include "base/clock.h"
#include <thread>

namespace teamo::ctl {

Result<Sample> take_sample(Session& session) {
    auto before = TEAMO_TRY(session.state());
    const auto start = Clock::now();
    std::this_thread::sleep_for(std::chrono::seconds(1));
    auto state = TEAMO_TRY(session.state());
    const auto between = Clock::now() - start;
    auto rates = rates_between(before, state, between);
    return Sample{.before = std::move(before),
                  .state = std::move(state),
                  .between = between,
                  .rates = std::move(rates)};
}

} // namespace teamo::ctl
