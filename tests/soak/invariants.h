// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What must be true of a world that is left alone (ARCHITECTURE.md, "Invariants"). Each function returns what
// is wrong, "" if nothing is.
#pragma once

#include "soak/world.h"

#include <map>

namespace teamo::soak {

/// The state document, the devices, the filters, the marks and the journal are those of the model, and
/// packets pass. It can be asked again until it is true.
std::string wrong_state(World& world, const Model& model);

/// Packets pass both ways, by each port that carries.
std::string wrong_traffic(World& world, const Model& model);

/// With nothing to do the daemon changes no device.
std::string wrong_silence(const World& world);

/// Everything is as before: after SIGTERM.
std::string wrong_end(World& world);

/// Memory and descriptors of a daemon stay the same while it runs.
class Growth {
public:
    /// Of a settled daemon.
    std::string wrong(World& world);
    std::string text() const;

private:
    pid_t process_ = 0;
    unsigned looks_ = 0;
    std::size_t first_kib_ = 0, kib_ = 0, first_descriptors_ = 0, descriptors_ = 0;
};

} // namespace teamo::soak
