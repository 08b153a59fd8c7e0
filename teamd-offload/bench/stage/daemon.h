// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/cpu_list.h"
#include "base/handle.h"
#include "base/result.h"
#include "kernel/files/net_namespace.h"

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace teamo::bench {

struct DaemonSetup {
    std::string program;                  ///< path
    std::vector<std::string> arguments{}; ///< without the program
    CpuList cpus{};
};

/// A team's daemon with a mount namespace, a /run and a /sys of its own. It ends with this object.
class Daemon {
public:
    static Result<Daemon> start(const DaemonSetup& setup, const NetNamespace& network);
    Daemon(Daemon&& other) noexcept : pid_(std::exchange(other.pid_, 0)), log_(std::move(other.log_)) {}
    Daemon& operator=(Daemon&&) = delete;
    ~Daemon();

    /// Waits until it uses all these ports. The error has the end of its log.
    Result<> await_ports(const std::string& team, const std::vector<std::string>& ports) const;

    /// Stops the process, so that it takes no CPU time; and lets it go on.
    void pause() const;
    void resume() const;
    /// Seconds of CPU time of all its threads so far; none: it has ended.
    std::optional<double> cpu_seconds() const;

private:
    Daemon(pid_t pid, UniqueFd log) : pid_(pid), log_(std::move(log)) {}
    bool has_ended() const;
    std::string end_of_log() const;
    pid_t pid_;
    UniqueFd log_;
};

} // namespace teamo::bench
