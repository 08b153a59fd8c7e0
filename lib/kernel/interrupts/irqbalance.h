// SPDX-License-Identifier: LGPL-2.1-or-later
//
// irqbalance(1)'s socket and its protocol (irqbalance.c: sock_handle): one request for each connection. Its
// only thread sleeps for an interval (10 s) after each scan up to version 1.9.3, so the event loop must not
// block on an answer.
#pragma once

#include "base/clock.h"
#include "base/cpu_list.h"
#include "base/handle.h"
#include "base/result.h"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace teamo {

inline constexpr unsigned most_irqs = 1U << 24; ///< more than any kernel has
using BannedIrqs = std::set<unsigned>;

/// What irqbalance answers to "setup".
struct IrqBalanceSetup {
    unsigned seconds = 0; ///< its interval
    BannedIrqs banned;    ///< by command line and socket; without those of a policy script
    CpuList banned_cpus;  ///< IRQBALANCE_BANNED_CPULIST; without it those of isolcpus= and nohz_full=
    bool operator==(const IrqBalanceSetup&) const = default;
};

/// "SLEEP 10 IRQ 43 LOAD 0 DIFF 0 CLASS 0 IRQ 44 … BANNED 000000c0". EACCES: an empty answer, as all users
/// but root get; EBADMSG: any other answer.
Result<IrqBalanceSetup> parse_irqbalance_setup(std::string_view reply);

/// The request that sets the list to `bans`. irqbalance before 1.9.5 reads only the first 500 bytes: so no
/// number crosses byte 500, and the bans of others come first. EMSGSIZE: the bans of others alone do not fit.
Result<std::string> ban_request(const BannedIrqs& bans, const BannedIrqs& ours);

/// The PID in "irqbalance1234.sock".
std::optional<pid_t> pid_of_socket(std::string_view name);

struct IrqBalanceSocket {
    pid_t pid = 0;
    std::string path;
    bool operator==(const IrqBalanceSocket&) const = default;
};

inline constexpr const char* irqbalance_directory = "/run/irqbalance";

/// The sockets of running processes, the newest first. A killed irqbalance leaves its socket behind.
std::vector<IrqBalanceSocket> find_irqbalance(const std::string& directory = irqbalance_directory);

/// A process named irqbalance, for one built without the socket. /proc may hide it (ProtectProc= of our
/// unit): then the first process of systemd's irqbalance.service. Both are paths: /proc, and where control
/// groups are.
std::optional<pid_t> find_irqbalance_process(const std::string& proc = "/proc",
                                             const std::string& cgroups = "/sys/fs/cgroup");

/// One request and its reply, driven by the owner's event loop.
class IrqBalanceExchange {
public:
    /// Connects and sends. EAGAIN: the backlog is full; ECONNREFUSED, ENOENT: irqbalance does not listen
    /// (yet).
    static Result<IrqBalanceExchange> start(const std::string& path, const std::string& request,
                                            Clock::time_point deadline);

    int fd() const { return socket_.get(); } ///< readable when step() should be called
    Clock::time_point deadline() const { return deadline_; }

    enum class Progress : std::uint8_t { again, done };
    /// Reads what is available. ETIMEDOUT: the deadline has passed; EMSGSIZE: the reply exceeds 64 KiB.
    Result<Progress> step(Clock::time_point now);

    /// Complete when done. Empty if the request has no answer, or if irqbalance refused it.
    const std::string& reply() const { return reply_; }

private:
    IrqBalanceExchange(UniqueFd socket, Clock::time_point deadline)
        : socket_(std::move(socket)), deadline_(deadline) {}
    UniqueFd socket_;
    Clock::time_point deadline_;
    std::string reply_;
};

} // namespace teamo
