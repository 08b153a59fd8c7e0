// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Many TCP connections at known rates: bulk data, and requests with replies. The kernel's counters show their
// cost and their losses.
#pragma once

#include "support/eventually.h"
#include "support/net/net_ns.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace teamo::test {

/// Connections from one namespace to another. The receiver discards the data.
class BulkFlows {
public:
    struct Way {
        const NetNs* from = nullptr;
        const NetNs* to = nullptr;
        std::string address;       ///< of the receiver, IPv4 or IPv6
        std::vector<double> rates; ///< bytes/s, one for each connection; 0: as fast as it can
        std::uint16_t port = 6001;
    };

    /// Returns when all are connected and send; throws SetupError otherwise.
    explicit BulkFlows(const Way& way);
    BulkFlows(const BulkFlows&) = delete;
    BulkFlows& operator=(const BulkFlows&) = delete;
    ~BulkFlows();

    std::uint64_t received() const { return received_; } ///< bytes, of all connections
    /// Changes the rates of the connections that have one.
    void set_rates(const std::vector<double>& rates);

private:
    void send_paced(const std::stop_token& stop);
    void receive_all(const std::stop_token& stop);

    std::vector<UniqueFd> senders_, receivers_;
    std::vector<std::atomic<double>> rates_;
    std::atomic<std::uint64_t> received_{0};
    std::vector<std::jthread> threads_; ///< last: use the other members
};

/// Connections with small requests and replies of the same size, in turn.
class RequestFlows {
public:
    RequestFlows(const NetNs& from, const NetNs& to, const std::string& address, unsigned connections,
                 double requests_per_second, std::uint16_t port = 6002);
    RequestFlows(const RequestFlows&) = delete;
    RequestFlows& operator=(const RequestFlows&) = delete;
    ~RequestFlows();

    std::uint64_t answered() const { return answered_; }

private:
    void ask(const std::stop_token& stop, double per_second);
    void answer(const std::stop_token& stop);

    std::vector<UniqueFd> clients_, servers_;
    std::atomic<std::uint64_t> answered_{0};
    std::vector<std::jthread> threads_; ///< last
};

/// The TCP counters of a namespace (/proc/net/netstat and snmp): "TCPOFOQueue", "RetransSegs", …
std::map<std::string, std::uint64_t> tcp_counters(const NetNs& in);

} // namespace teamo::test
