// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CPUs that the teams of this machine have assigned to their ports, so that no two teams take the same
// one. Each daemon writes its claims into DIRECTORY/TEAM.cpus. It holds the lock DIRECTORY/cpus.lock from
// before it reads the others' claims until it has written its own.
#pragma once

#include "model/interrupts.h"
#include "runtime/lock_file.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace teamo {

/// The CPUs that a team has assigned to one of its ports.
struct PortClaim {
    std::string port;
    CpuList cpus;
    std::map<unsigned, CpuList> irqs; ///< the affinities that we set, by IRQ number
    double load = 1;                  ///< of the whole port
    bool standby = false;
    bool operator==(const PortClaim&) const = default;
};

/// A team's file.
struct TeamClaims {
    pid_t pid = 0;                ///< of its daemon
    std::uint64_t start_time = 0; ///< of that process (proc(5), field 22), because PIDs are reused
    std::vector<PortClaim> ports;
    bool operator==(const TeamClaims&) const = default;
};

class CpuClaims {
public:
    /// `root`: the directory that contains proc.
    explicit CpuClaims(std::string directory, std::string root = "")
        : directory_(std::move(directory)), root_(std::move(root)) {}

    /// Hold it to read and then write. None: another daemon holds it, for the few writes it needs or because
    /// it was stopped (SIGSTOP) meanwhile: try again later.
    Result<std::optional<LockFile>> try_lock() const;

    /// One claim for each CPU of each port of the other teams; a port's load is divided among its CPUs. The
    /// claims of a dead daemon count as long as one of the port's interrupts has the affinity that it set,
    /// because a team carries packets without its daemon. Unreadable and malformed files are ignored.
    std::vector<CpuClaim> others(std::string_view team) const;

    /// Writes the claims of this process.
    Result<> write(std::string_view team, std::vector<PortClaim> ports) const;
    void remove(std::string_view team) const;

private:
    bool is_alive(const TeamClaims& claims) const;
    bool is_in_effect(const PortClaim& port) const;
    std::string path_of(std::string_view team) const;
    std::string directory_, root_;
};

// The file's content. Pure.
std::string text_of(const TeamClaims& claims);
Result<TeamClaims> parse_claims(std::string_view text);

} // namespace teamo
