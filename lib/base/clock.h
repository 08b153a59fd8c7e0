// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <chrono>

namespace teamo {

/// The clock of every delay and deadline (CLOCK_MONOTONIC). Pure functions get the time as an argument.
using Clock = std::chrono::steady_clock;

} // namespace teamo
