// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which CPUs other teams of this machine have given to their ports, so that two do not take one. Each daemon
// writes its own into DIRECTORY/TEAM.cpus, and holds a lock (DIRECTORY/cpus.lock) from reading the others'
// until that is done.
#pragma once

#include "model/interrupts.h"
#include "runtime/lock_file.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace teamo {

/// What a team has given to one of its ports.
struct PortClaim {
    std::string port;
    CpuList cpus;
    std::map<unsigned, CpuList> irqs; ///< as they were set, by number
    double load = 1;                  ///< of the whole port
    bool standby = false;
    bool operator==(const PortClaim&) const = default;
};

/// A team's file.
struct TeamClaims {
    pid_t pid = 0;                ///< of its daemon
    std::uint64_t start_time = 0; ///< of that process (proc(5), field 22): numbers come again
    std::vector<PortClaim> ports;
    bool operator==(const TeamClaims&) const = default;
};

class CpuClaims {
public:
    /// `root`: where /proc is.
    explicit CpuClaims(std::string directory, std::string root = "")
        : directory_(std::move(directory)), root_(std::move(root)) {}

    /// For who reads and then writes. None: another daemon has it for the few writes it needs, or was stopped
    /// while it had it: try again later.
    Result<std::optional<LockFile>> try_lock() const;

    /// One for each CPU of each port of the others, the port's load divided among them. The claims of a
    /// daemon that is dead count as long as one of the port's interrupts still goes where it was sent: a team
    /// carries packets without its daemon. Files that cannot be read, or make no sense, are nobody's claims.
    std::vector<CpuClaim> others(std::string_view team) const;

    /// This process's.
    Result<> write(std::string_view team, std::vector<PortClaim> ports) const;
    void remove(std::string_view team) const;

private:
    bool lives(const TeamClaims& claims) const;
    bool holds(const PortClaim& port) const;
    std::string path_of(std::string_view team) const;
    std::string directory_, root_;
};

// Text and value, pure.
std::string text_of(const TeamClaims& claims);
Result<TeamClaims> parse_claims(std::string_view text);

} // namespace teamo
