// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Interrupts as /proc/irq has them, and those of a device.
#pragma once

#include "base/result.h"
#include "kernel/files/device_folder.h"
#include "model/interrupts.h"

#include <span>
#include <string>
#include <vector>

namespace teamo {

/// A device's vectors that have a handler, by number: those it lists, else those with its name; and those
/// known to be its from elsewhere.
std::vector<IrqVector> list_vectors(const DeviceFolder& folder, const std::string& name,
                                    std::span<const unsigned> known, const std::string& root);

/// Affinities and count of a vector whose number and name are known. ENOENT: there is no such interrupt;
/// ESTALE: that handler has gone.
Result<> refresh(IrqVector& vector, const std::string& root);

} // namespace teamo
