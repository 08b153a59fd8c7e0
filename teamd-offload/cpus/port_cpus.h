// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which CPUs serve the ports' interrupts, how busy they are, and by which port each CPU sends therefore. The
// kernel tells nobody when an affinity changes, and anybody may change one: it is asked again and again.
#pragma once

#include "kernel/cpus/cpu_load.h"
#include "log.h"
#include "loop.h"
#include "model/observation.h"
#include "plan/team/cpu_slots.h"
#include "watch/port_watch.h"

#include <functional>
#include <map>
#include <memory>

namespace teamo {

class PortCpus {
public:
    /// What is followed. A card has no interrupts until it is up.
    struct Port {
        IfIndex index;
        Slot slot;
        bool has_link = false;
        bool operator==(const Port&) const = default;
    };
    struct Hooks {
        std::function<const Links&()> links;
        std::function<void()> changed; ///< interrupts have come to other CPUs
    };

    static Result<std::unique_ptr<PortCpus>> make(sd_event* loop, const Log& log, Hooks hooks);

    /// From now on these; where they are others than before, their interrupts are read soon.
    void follow(std::vector<Port> ports);

    /// As Tables has it, for these ports.
    const std::vector<Slot>& slots(const std::vector<Port>& ports);

    /// As last read; none where it is not known, or has none.
    const CpuList& interrupt_cpus(IfIndex port) const;
    /// Of its interrupt CPUs, how much of their time other work takes than interrupts, 0 to 1: their mean,
    /// smoothed over some 15 seconds. The port's own interrupts do not count: they would go with its load.
    double load(IfIndex port) const;

private:
    PortCpus(const Log& log, Hooks hooks) : log_(log), hooks_(std::move(hooks)) {}
    void look();
    bool read_interrupts();
    bool read_interrupts_of(IfIndex port);
    void read_load();

    const Log& log_;
    Hooks hooks_;
    std::optional<Timer> timer_;
    std::vector<Port> followed_;
    CpuList online_;
    std::map<IfIndex, CpuList> interrupt_cpus_;

    struct Dealt {
        std::vector<ServedPort> ports;
        CpuList online;
        bool operator==(const Dealt&) const = default;
    };
    Dealt dealt_; ///< what slots_ was made of
    std::vector<Slot> slots_;

    struct Work {
        CpuTimes times;
        double share = 0; ///< smoothed
        bool known = false;
    };
    std::map<unsigned, Work> work_; ///< by CPU
    std::optional<Clock::time_point> read_at_;
};

} // namespace teamo
