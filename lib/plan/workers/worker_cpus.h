// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "plan/workers/worker_plan.h"

#include <set>
#include <string_view>

namespace teamo {

/// The CPUs of one pass of a WorkerPlanner: what they are to a worker, and who was given them already.
class WorkerCpus {
public:
    using Nearness = WorkerPlanner::Nearness;

    /// A worker that looks for CPUs.
    struct Seeker {
        CpuList anchors; ///< the interrupt CPUs that its packets arrive on; may be none
        Nearness nearness = Nearness::same;
        unsigned count = 1; ///< how many CPUs it needs
        double work = 0;
        CpuList now; ///< where it is: of equals these
    };

    explicit WorkerCpus(const WorkerPlanInput& input);

    bool is_usable(unsigned cpu) const;
    bool are_usable(const CpuList& cpus) const;
    double interrupts(unsigned cpu) const;
    /// The port whose interrupts go there; empty: none's, or several ports'.
    std::string_view port_of(unsigned cpu) const;
    std::size_t usable() const { return usable_.size(); }

    /// As near to an anchor as told, not where another port's interrupts go if it can be helped, and not
    /// where earlier workers leave nothing. Empty: not so many are near.
    CpuList near(const Seeker& seeker) const;
    /// One for itself, away from other ports' interrupts where there is one.
    unsigned own(const Seeker& seeker) const;
    unsigned workers_on(unsigned cpu) const;

    void give(const CpuList& cpus, double work);
    void take(const CpuList& cpus, double work); ///< back

    /// What a CPU is to an anchor: "its sibling".
    std::string_view relation(unsigned cpu, unsigned anchor) const;

private:
    unsigned rank(const Cpu& cpu, const Cpu& anchor, Nearness nearness, bool others) const;
    unsigned best_rank(const Cpu& cpu, const Seeker& seeker) const;
    bool is_full(unsigned cpu, const Seeker& seeker) const;
    bool is_others(unsigned cpu, const CpuList& anchors) const;

    const WorkerPlanInput& premises_;
    std::set<unsigned> usable_;
    struct Given {
        unsigned workers = 0;
        double work = 0;
    };
    std::map<unsigned, Given> given_;
};

} // namespace teamo
