// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What of a port's interrupts was set is put back, where it is still as we set it.
#pragma once

#include "base/result.h"
#include "model/interrupts.h"
#include "model/observation.h"

#include <string>

namespace teamo {

/// As it is now; none where it is gone: an interrupt that is not the device's any more is as good as gone,
/// since its number may be another's, and so is a thread that is none of NAPI. A card that is down still has
/// its own (/sys/…/msi_irqs).
std::optional<CpuList> read_cpu_setting(const Link& link, const CpuSetting& setting,
                                        const std::string& root = "");

/// All of it. Goes on after a failure; all that failed is in the error.
Result<> restore_cpus(const Link& link, const SetCpus& set, const std::string& root = "");

/// Whether the interrupt's affinity is what its driver recommends (affinity_hint), and that says something.
bool is_as_hinted(unsigned irq, const std::string& root = "");

} // namespace teamo
