// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A stand-in for irqbalance(1) at its socket: one request a connection, a reply to "setup", then the end.
// It reads as much of a request as it is told to, and may behave badly.
#pragma once

#include "base/handle.h"

#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace teamo::test {

class IrqBalanceServer {
public:
    enum class Manner {
        good,
        silent,  ///< closes without a word, as to those who are not root
        garbage, ///< answers something else
        endless, ///< answers, and does not end
        asleep   ///< takes nothing in
    };

    /// Listens as irqbalance of that process does, in a folder that is there.
    IrqBalanceServer(const std::string& directory, pid_t pid, std::set<unsigned> banned = {},
                     std::size_t buffer = 16384);
    ~IrqBalanceServer();
    IrqBalanceServer(const IrqBalanceServer&) = delete;
    IrqBalanceServer& operator=(const IrqBalanceServer&) = delete;

    void behave(Manner manner) { manner_ = manner; }
    /// As when somebody else writes to it.
    void set_banned(std::set<unsigned> banned);
    std::set<unsigned> banned() const;
    /// Requests that changed the list.
    unsigned writes() const { return writes_; }
    /// Credentials came with each request, and said root.
    bool knew_who_asked() const { return knew_; }

private:
    void serve();
    void answer(int connection);
    std::string reply_to(const std::string& request);

    std::string path_;
    std::size_t buffer_;
    UniqueFd listener_, end_;
    std::atomic<Manner> manner_{Manner::good};
    std::atomic<unsigned> writes_{0};
    std::atomic<bool> knew_{true};
    mutable std::mutex mutex_;
    std::vector<unsigned> banned_; ///< in the order of the request
    std::thread thread_;
};

} // namespace teamo::test
