// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A fake irqbalance(1) at its socket: one request per connection, a reply to "setup", then the connection
// ends. The number of bytes that it reads of a request is configurable, and it can misbehave.
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
        silent,  ///< closes without a reply, as for clients that are not root
        garbage, ///< sends an invalid reply
        endless, ///< replies, and does not close
        asleep   ///< accepts nothing
    };

    /// Listens like the irqbalance with this pid, in an existing directory.
    IrqBalanceServer(const std::string& directory, pid_t pid, std::set<unsigned> banned = {},
                     std::size_t buffer = 16384);
    ~IrqBalanceServer();
    IrqBalanceServer(const IrqBalanceServer&) = delete;
    IrqBalanceServer& operator=(const IrqBalanceServer&) = delete;

    void behave(Manner manner) { manner_ = manner; }
    /// Changes the list as another client would.
    void set_banned(std::set<unsigned> banned);
    std::set<unsigned> banned() const;
    /// Requests that changed the list.
    unsigned writes() const { return writes_; }
    /// Whether each request came with the credentials of root.
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
