// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The output of `balance`, `stats`, `interrupts` and `workers`, as text and as JSON; pure.
#pragma once

#include "ctl/report/state.h"
#include "text/table.h"

namespace teamo::ctl {

std::string balance_text(const TeamState& state);
json::Value balance_json(const TeamState& state);

std::string stats_text(const TeamState& state);
json::Value stats_json(const TeamState& state);

/// A table with a row for each port, then sentences on the problems.
std::string interrupts_text(const InterruptStatus& interrupts);
/// One line for each port: the planned CPUs, and why.
std::string interrupt_plan_text(const InterruptStatus& interrupts);

/// The CPUs where its queues' interrupts arrive now.
CpuList arrival_cpus(const PortInterruptStatus& port);
/// Sentences on conflicts, refusals and drift, worst first.
std::vector<std::string> interrupt_remarks(const InterruptStatus& interrupts);

/// A table with a row for each worker, then sentences: reasons and remarks.
std::string workers_text(const WorkersStatus& workers);

/// A table with a row for each reason to drop a frame, then a sentence if the guard drops nothing.
std::string guard_text(const GuardStatus& guard);

} // namespace teamo::ctl
