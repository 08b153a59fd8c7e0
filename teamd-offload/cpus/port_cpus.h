// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which CPUs serve the ports' interrupts, how busy they are, and by which port each CPU sends therefore. The
// kernel tells nobody when an affinity changes, and anybody may change one: it is asked again and again.
#pragma once

#include "base/clock.h"
#include "cpus/interrupts.h"
#include "kernel/cpus/cpu_load.h"
#include "log.h"
#include "loop.h"
#include "model/observation.h"
#include "plan/team/cpu_slots.h"

#include <functional>
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
    /// `request_pass`: called when interrupts arrive at other CPUs than before.
    static Result<std::unique_ptr<PortCpus>> make(sd_event* loop, const Log& log, Interrupts& interrupts,
                                                  std::function<void()> request_pass);

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
    PortCpus(const Log& log, Interrupts& interrupts, std::function<void()> request_pass)
        : log_(log), interrupts_(interrupts), request_pass_(std::move(request_pass)) {}
    void poll();
    bool read_interrupts();
    void read_load();

    const Log& log_;
    Interrupts& interrupts_;
    std::function<void()> request_pass_;
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
