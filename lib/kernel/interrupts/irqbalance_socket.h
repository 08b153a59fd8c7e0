// SPDX-License-Identifier: LGPL-2.1-or-later
//
// irqbalance(1)'s socket: a connection takes one request. It has one thread, and up to version 1.9.3 that
// sleeps for an interval (10 s) after each new look at the machine: nobody may wait for it.
#pragma once

#include "base/clock.h"
#include "base/handle.h"
#include "base/result.h"

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace teamo {

struct IrqBalanceSocket {
    pid_t pid = 0;
    std::string path;
    bool operator==(const IrqBalanceSocket&) const = default;
};

inline constexpr const char* irqbalance_directory = "/run/irqbalance";

/// The sockets whose process lives, the newest first: a killed one leaves its socket behind.
std::vector<IrqBalanceSocket> find_irqbalance(const std::string& directory = irqbalance_directory);

/// A process of that name, as of an irqbalance that was built without the socket. `proc`: where /proc is.
std::optional<pid_t> find_irqbalance_process(const std::string& proc = "/proc");

/// One request and its reply, driven by the owner's event loop.
class IrqBalanceExchange {
public:
    /// Connects and sends. EAGAIN: others wait before us; ECONNREFUSED, ENOENT: nobody is there (yet).
    static Result<IrqBalanceExchange> start(const std::string& path, const std::string& request,
                                            Clock::time_point deadline);

    int fd() const { return socket_.get(); }
    static std::uint32_t events(); ///< to wait for on fd(), as epoll has them
    Clock::time_point deadline() const { return deadline_; }

    enum class Progress : std::uint8_t { again, done };
    /// Takes in what has come. ETIMEDOUT: past the deadline; EMSGSIZE: a reply of 64 KiB.
    Result<Progress> step(Clock::time_point now);

    /// Complete when done; empty for a request that has no answer, and where we are refused.
    const std::string& reply() const { return reply_; }

private:
    IrqBalanceExchange(UniqueFd socket, Clock::time_point deadline)
        : socket_(std::move(socket)), deadline_(deadline) {}
    UniqueFd socket_;
    Clock::time_point deadline_;
    std::string reply_;
};

/// The same for those who can wait.
Result<std::string> ask_irqbalance(const std::string& path, const std::string& request,
                                   std::chrono::milliseconds patience);

} // namespace teamo
