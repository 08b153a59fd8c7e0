// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which CPUs handle the ports' interrupts, how busy they are, and which port each CPU transmits by. The
// kernel does not report a change of an affinity, so they are polled.
#pragma once

#include "balance/buckets.h"
#include "base/clock.h"
#include "daemon/context/loop.h"
#include "daemon/cpus/interrupt_subsystem.h"
#include "kernel/cpus/cpus.h"

#include <map>
#include <memory>

namespace teamo {

class PortCpus {
public:
    struct Port {
        IfIndex index;
        std::string name;
        Slot slot;
        bool has_link = false;
        bool operator==(const Port&) const = default;
    };
    static Result<std::unique_ptr<PortCpus>> make(TeamContext& context, Interrupts& interrupts);

    /// Polls these ports from now on; if they have changed, reads their interrupts soon.
    void follow(std::vector<Port> ports);

    /// The port of each CPU, for Tables::cpu_slots.
    const std::vector<Slot>& slots(const std::vector<Port>& ports);

    /// As last read; empty: none, or not known.
    CpuList interrupt_cpus(IfIndex port) const;
    /// The share of time that a port's interrupt CPUs spend on other work than interrupts, 0 to 1: their
    /// mean, smoothed over 15 s, and unchanged until it differs by 0.2. Interrupts do not count, because they
    /// grow with the port's own load; 0 if NAPI threads do their work.
    double load(IfIndex port) const;

private:
    PortCpus(TeamContext& context, Interrupts& interrupts) : context_(context), interrupts_(interrupts) {}
    void poll();
    bool read_interrupts();
    void read_load();

    TeamContext& context_;
    Interrupts& interrupts_;
    std::optional<Timer> timer_;
    std::vector<Port> followed_;
    CpuList online_;
    std::map<IfIndex, CpuList> interrupt_cpus_;

    std::pair<std::vector<ServedPort>, CpuList> slot_input_; ///< slots_ was made from it
    std::vector<Slot> slots_;

    struct Work {
        CpuColumns times;
        std::optional<double> share{};  ///< smoothed; none: not known yet
        std::optional<double> steady{}; ///< the share when it last changed by much
    };
    std::map<unsigned, Work> work_; ///< by CPU
    std::optional<Clock::time_point> read_at_;
};

} // namespace teamo
