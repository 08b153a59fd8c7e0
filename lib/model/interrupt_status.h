// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The state of the ports' interrupts, for the state document and teamoctl.
#pragma once

#include "model/config.h"
#include "model/interrupts.h"

namespace teamo {

struct PortInterruptStatus {
    std::string name;
    PortInterrupts now{};               ///< as last read
    std::vector<unsigned> cpus{};       ///< planned, by queue; empty: nothing is planned
    std::string reason{};               ///< for these CPUs; one line
    bool moves = false;                 ///< in a dry run: at least one queue is on another CPU now
    CpuSettings wanted{};               ///< the planned settings
    std::vector<std::string> shares{};  ///< other ports on its CPUs
    std::vector<std::string> refused{}; ///< what the kernel refused, and why
    unsigned repaired = 0;              ///< number of repairs
    bool contested = false;             ///< another program changes it again and again; we gave up
    std::string drift{};                ///< the last change by another program; empty: none
    bool operator==(const PortInterruptStatus&) const = default;
};

/// The end of a line in `writers` about a program that leaves the ports alone or is asked to; the doctor
/// reports the other lines.
inline constexpr std::string_view left_alone = " the ports' interrupts alone";

struct InterruptStatus {
    InterruptPolicy policy = InterruptPolicy::unique;
    bool managed = true;                ///< false: restored by the administrator, until "apply"
    std::string degraded{};             ///< why not every port has a CPU of its own; empty: each has one
    std::vector<std::string> writers{}; ///< other programs that place interrupts, one line each
    std::vector<PortInterruptStatus> ports{};
    bool operator==(const InterruptStatus&) const = default;
};

} // namespace teamo
