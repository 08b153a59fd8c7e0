// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "kernel/interrupts/irqbalance.h"

#include <poll.h>

#include <algorithm>

namespace teamo::test {

/// An IrqBalanceExchange that blocks for up to `patience`.
inline Result<std::string> ask_irqbalance(const std::string& path, const std::string& request,
                                          std::chrono::milliseconds patience) {
    auto exchange = IrqBalanceExchange::start(path, request, Clock::now() + patience);
    if (!exchange) return tl::unexpected(exchange.error());
    while (true) {
        const auto progress = exchange->step(Clock::now());
        if (!progress) return tl::unexpected(progress.error());
        if (*progress == IrqBalanceExchange::Progress::done) return exchange->reply();
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(exchange->deadline() - Clock::now()).count();
        pollfd waited{.fd = exchange->fd(), .events = POLLIN, .revents = 0};
        ::poll(&waited, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
    }
}

} // namespace teamo::test
