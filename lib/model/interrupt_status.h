// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How the ports' interrupts stand, as a value: what the state document and teamoctl speak of.
#pragma once

#include "model/config.h"
#include "model/interrupts.h"

namespace teamo {

struct PortInterruptStatus {
    std::string name;
    PortInterrupts now{};               ///< as last read
    std::vector<unsigned> cpus{};       ///< planned, by queue; empty: nothing is planned
    std::string reason{};               ///< why these; one line
    bool moves = false;                 ///< of a plan: a queue is elsewhere now
    CpuSettings wanted{};               ///< what shall be set
    std::vector<std::string> shares{};  ///< other ports on its CPUs
    std::vector<std::string> refused{}; ///< what the kernel did not do, and why
    unsigned repaired = 0;              ///< how often something was put right
    bool contested = false;             ///< somebody else was more patient
    std::string drift{};                ///< what went wrong last, and by whom; empty: nothing
    bool operator==(const PortInterruptStatus&) const = default;
};

/// How a sentence of `writers` ends about one who leaves the ports alone, or is just being asked to.
inline constexpr std::string_view left_alone = " the ports' interrupts alone";

struct InterruptStatus {
    InterruptPolicy policy = InterruptPolicy::unique;
    bool managed = true;                ///< false: put back by an administrator until told otherwise
    std::string degraded{};             ///< why not every port has a CPU of its own; empty: each has
    std::vector<std::string> writers{}; ///< who else places interrupts here, and how that stands
    std::vector<PortInterruptStatus> ports{};
    bool operator==(const InterruptStatus&) const = default;
};

} // namespace teamo
