// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "plan/workers/worker_plan.h"

#include <string_view>

namespace teamo {

/// The CPUs in one step of a WorkerPlanner: their distance to a worker's packets, and their use by workers.
class WorkerCpus {
public:
    using Nearness = WorkerPlanner::Nearness;

    /// What a worker needs.
    struct Request {
        CpuList usable;  ///< by this worker, not empty
        CpuList anchors; ///< the interrupt CPUs on which its packets arrive; may be empty
        Nearness nearness = Nearness::same;
        unsigned count = 1; ///< of CPUs
        double work = 0;    ///< CPU time that it uses, in CPUs
        CpuList now;        ///< its present CPUs, preferred among equals
    };

    explicit WorkerCpus(const WorkerPlanInput& input);

    /// Those that are online, not isolated and `allowed`; if that is empty, of all.
    CpuList usable(const CpuList& allowed) const;
    double interrupts(unsigned cpu) const; ///< share of its time, 0 to 1
    /// The port whose interrupts the CPU serves; empty: no port or several.
    std::string_view port_of(unsigned cpu) const;

    /// CPUs at the requested nearness to an anchor; if possible without other ports' interrupts and not
    /// filled by other workers. Empty: too few usable CPUs are near.
    CpuList near(const Request& request) const;
    /// The usable CPU with the fewest workers, if possible without other ports' interrupts.
    unsigned own(const Request& request) const;
    int workers_on(unsigned cpu) const { return used(cpu).workers; }

    /// Counts a worker on these CPUs.
    void give(const CpuList& cpus, double work) { count(cpus, 1, work); }
    void take(const CpuList& cpus, double work) { count(cpus, -1, -work); } ///< undoes give()

    /// The relation of a CPU to an anchor: "its sibling".
    std::string_view relation(unsigned cpu, unsigned anchor) const;

private:
    unsigned rank(const Cpu& cpu, const Cpu& anchor, Nearness nearness, bool others) const;
    unsigned best_rank(const Cpu& cpu, const Request& request) const;
    bool is_full(unsigned cpu, const Request& request) const;
    bool serves_other_ports(unsigned cpu, const CpuList& anchors) const;

    struct Use {
        int workers = 0;
        double work = 0;
    };
    void count(const CpuList& cpus, int workers, double work);
    Use used(unsigned cpu) const;

    const WorkerPlanInput& input_;
    CpuList usable_;
    std::map<unsigned, Use> used_; ///< by CPU
};

} // namespace teamo
