// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The output of `interrupts`; pure.
#pragma once

#include "model/status.h"

namespace teamo::ctl {

/// A table with a row for each port, then sentences on the problems.
std::string interrupts_text(const InterruptStatus& interrupts);
/// One line for each port: the planned CPUs, and why.
std::string interrupt_plan_text(const InterruptStatus& interrupts);

/// Sentences on conflicts, refusals and drift, worst first.
std::vector<std::string> interrupt_remarks(const InterruptStatus& interrupts);

} // namespace teamo::ctl
