// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "bench/load/connection.h"
#include "bench/load/order.h"
#include "bench/load/tally.h"

#include <functional>
#include <vector>

namespace teamo::bench {

/// What the clients do, each with a connection of its own.
struct ClientSetup {
    std::vector<IpAddress> servers{}; ///< one for each connection
    std::uint16_t port = 0;
    Order order{};
    std::uint32_t message = 32'768; ///< bytes of each send() to a sink
    CpuList cpus{};
    std::string congestion_control{};  ///< of the connections; empty: as the kernel chooses
    std::function<Result<>()> enter{}; ///< called by each thread first: enters its network namespace
};

/// Starts a thread for each connection. A connection that is refused is tried again for ten seconds. EAGAIN:
/// the machine allows no further thread.
Result<> start_clients(LoadThreads& threads, const ClientSetup& setup);

/// Returns when all connections work. ETIMEDOUT: within 10 s they do not.
Result<> await_clients(const LoadThreads& threads);

} // namespace teamo::bench
