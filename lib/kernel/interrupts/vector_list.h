// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The interrupts of a device, from msi_irqs and /proc/irq.
#pragma once

#include "base/result.h"
#include "kernel/files/device_folder.h"
#include "model/interrupts.h"

#include <span>
#include <string>
#include <vector>

namespace teamo {

/// A device's vectors that have a handler, by number: those in msi_irqs, otherwise those with its name, and
/// those in `known`.
std::vector<IrqVector> list_vectors(const DeviceFolder& folder, const std::string& name,
                                    std::span<const unsigned> known, const std::string& root);

/// Reads affinities and count of a vector whose number and name are set. ENOENT: the interrupt no longer
/// exists; ESTALE: it no longer has that handler.
Result<> refresh(IrqVector& vector, const std::string& root);

} // namespace teamo
