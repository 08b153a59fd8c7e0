// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "model/interrupt_status.h"
#include "json/value.h"

namespace teamo::control {

/// What the state document has under "interrupts", and what a plan that is only shown is told as.
json::Value interrupt_document(const InterruptStatus& status);

} // namespace teamo::control
