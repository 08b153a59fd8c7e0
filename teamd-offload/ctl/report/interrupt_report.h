// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What `interrupts` shows; pure.
#pragma once

#include "model/interrupt_status.h"
#include "json/value.h"

namespace teamo::ctl {

/// What lib/control writes, read again; the settings wanted of XPS and RPS are not in it.
InterruptStatus read_interrupts(const json::Value& document);

/// A table by port, and below it what is wrong: sentences.
std::string interrupts_text(const InterruptStatus& interrupts);
/// One line a port: where its interrupts would go, and why.
std::string interrupt_plan_text(const InterruptStatus& interrupts);

/// Conflicts, drift, refusals: sentences, worst first.
std::vector<std::string> interrupt_remarks(const InterruptStatus& interrupts);

} // namespace teamo::ctl
