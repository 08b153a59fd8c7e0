// SPDX-License-Identifier: LGPL-2.1-or-later
//
// One plan for the interrupts of all teams of a process. docs/adr/0047.
#pragma once

#include "plan/interrupts/interrupt_plan.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace teamo {

/// Teams whose ports may use the same CPUs are planned together: a team that joins finds at once the CPUs
/// that others can spare. Teams with other CPUs, and other processes, are claims.
class TeamPlans {
public:
    struct Team {
        std::vector<PlannedPort> ports; ///< `now`: as last planned, if they were
        CpuList eligible;               ///< CpuTopology::eligible_for_interrupts
        /// Where their packets arrive: as planned, or where another program or the kernel keeps interrupts.
        std::vector<CpuClaim> claims{};
        bool operator==(const Team&) const = default;
    };
    /// What this team needs from now on. To be put again when it has applied its part.
    void put(const std::string& name, Team team) { teams_.insert_or_assign(name, std::move(team)); }
    void remove(const std::string& name) { teams_.erase(name); }
    /// Their claims are known here.
    std::set<std::string, std::less<>> names() const;

    struct Part {
        InterruptPlan plan{};           ///< of the team's ports, in their order
        std::set<std::string> others{}; ///< teams whose ports the common plan moves
    };
    /// Of a team that was put. `allowed`: of its configuration, for the reasons. `claims`: of other
    /// processes.
    Part part_of(const std::string& name, const CpuTopology& topology, const CpuList& allowed,
                 std::vector<CpuClaim> claims);

private:
    /// The last plan of teams that may use the same CPUs, because each asks for its part of the same one.
    struct Common {
        CpuTopology topology;
        std::map<std::string, Team> teams;
        std::vector<CpuClaim> claims;
        InterruptPlan plan; ///< by team, and in the order of its ports
    };
    const InterruptPlan& common_plan(const CpuTopology& topology, const Team& own,
                                     const std::vector<CpuClaim>& claims);

    std::map<std::string, Team> teams_;
    std::map<CpuList, Common> common_; ///< by the CPUs of its teams
};

} // namespace teamo
