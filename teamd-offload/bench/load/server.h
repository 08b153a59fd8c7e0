// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "bench/load/connection.h"
#include "bench/load/tally.h"

#include <memory>
#include <set>

namespace teamo::bench {

struct ServerSetup {
    std::uint16_t port = 0;
    CpuList cpus{};                                  ///< of its threads; empty: any
    std::set<IpAddress> allowed{};                   ///< other clients are refused; empty: none is
    unsigned most = 256;                             ///< connections at a time
    std::string congestion_control{};                ///< of its connections; empty: as the kernel chooses
    std::chrono::milliseconds longest_order{10'000}; ///< that a client may take for its order
};

/// Serves the orders of load generators (order.h) in the network namespace of the thread that started it. It
/// has a thread for each connection it can have at a time, all in accept(), so a stranger can use up its
/// connections but nothing else of the machine.
class Server {
public:
    static Result<std::unique_ptr<Server>> start(const ServerSetup& setup);
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    ~Server();

    std::uint16_t port() const;
    Totals totals() const { return threads_.totals(); }

private:
    Server(UniqueFd listening, const ServerSetup& setup);
    void serve(const std::stop_token& stop, Tally& tally) const;
    void serve(const Connection& client, const std::stop_token& stop, Tally& tally) const;

    UniqueFd listening_;
    std::set<IpAddress> allowed_;
    std::string congestion_control_;
    std::chrono::milliseconds longest_order_;
    LoadThreads threads_; ///< use all of the above
};

} // namespace teamo::bench
