// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "model/status.h"
#include "json/value.h"

namespace teamo::control {

/// The key "interrupts" of the state document, also the answer to InterruptsPlan. Pure.
json::Value interrupt_document(const InterruptStatus& status);
/// The planned settings of threads, XPS and RPS are not in it, and neither are the numbers of queues.
InterruptStatus read_interrupts(const json::Value& document);

} // namespace teamo::control
