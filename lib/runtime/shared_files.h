// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Files that the teams of this machine share: the CPUs that they have claimed, and the bans that they have
// requested from irqbalance.
#pragma once

#include "kernel/files/files.h"
#include "kernel/interrupts/irqbalance.h"
#include "model/interrupts.h"

#include <map>
#include <set>
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

/// A team's file, DIRECTORY/TEAM.cpus.
struct TeamClaims {
    pid_t pid = 0;                ///< of its daemon
    std::uint64_t start_time = 0; ///< of that process (proc(5), field 22), because PIDs are reused
    std::vector<PortClaim> ports;
    bool operator==(const TeamClaims&) const = default;
};
std::string text_of(const TeamClaims& claims);
Result<TeamClaims> parse_claims(std::string_view text);

/// The claims of all teams, so that no two teams take the same CPU. A daemon holds the lock
/// DIRECTORY/cpus.lock from before it reads the others' claims until it has written its own.
class CpuClaims {
public:
    /// `root`: the directory that contains proc.
    explicit CpuClaims(std::string directory, std::string root = "")
        : directory_(std::move(directory)), root_(std::move(root)) {}

    /// Hold it to read and then write. None: another daemon holds it, for the few writes it needs or because
    /// it was stopped (SIGSTOP) meanwhile: try again later.
    Result<std::optional<LockFile>> try_lock() const;

    /// One claim for each CPU of each port of all teams but `own`; a port's load is divided among its CPUs.
    /// The claims of a dead daemon count as long as one of the port's interrupts has the affinity that it
    /// set, because a team carries packets without its daemon. Unreadable and malformed files are ignored.
    std::vector<CpuClaim> others(const std::set<std::string, std::less<>>& own) const;

    /// Writes the claims of this process.
    Result<> write(std::string_view team, std::vector<PortClaim> ports) const;
    void remove(std::string_view team) const;

private:
    bool is_alive(const TeamClaims& claims) const;
    bool is_in_effect(const PortClaim& port) const;
    std::string path_of(std::string_view team) const;
    std::string directory_, root_;
};

/// The bans that the teams of this machine have requested from one irqbalance. irqbalance(1) has one list of
/// banned interrupts, and each request replaces the whole list (irqbalance.c: sock_handle, "settings ban
/// irqs"). It has the bans of the administrator (--banirq), of every team and of other programs, so we read
/// it, change our part and write it back.
struct BansAsked {
    pid_t pid = 0;                           ///< of that irqbalance; a new one starts without our bans
    BannedIrqs found;                        ///< in its list before the first team wrote to it
    std::map<std::string, BannedIrqs> teams; ///< the bans of each team
    bool operator==(const BansAsked&) const = default;
};
std::string text_of(const BansAsked& asked);
Result<BansAsked> parse_bans_asked(std::string_view text);

/// The list to write: the current one with `wanted`, without earlier bans of this team that it no longer
/// wants, unless another team wants them or they were there before us.
BannedIrqs bans_wanted(const BannedIrqs& current, const BansAsked& asked, const std::string& team,
                       const BannedIrqs& wanted);

} // namespace teamo
