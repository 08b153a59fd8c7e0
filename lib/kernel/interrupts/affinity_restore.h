// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Restores the affinities that we changed, if they still have our value.
#pragma once

#include "base/result.h"
#include "model/interrupts.h"
#include "model/observation.h"

#include <string>

namespace teamo {

/// The present value. None if the interrupt or thread is gone, or if its number now belongs to another device
/// or to a thread that is not a NAPI thread. A card that is down keeps its interrupts (/sys/…/msi_irqs).
std::optional<CpuList> read_cpu_setting(const Link& link, const CpuSetting& setting,
                                        const std::string& root = "");

/// Restores every setting that still has our value. Continues after a failure; the error lists all failures.
Result<> restore_cpus(const Link& link, const SetCpus& set, const std::string& root = "");

/// True if the driver recommends CPUs (a non-empty affinity_hint) and the affinity is exactly those.
bool is_as_hinted(unsigned irq, const std::string& root = "");

} // namespace teamo
