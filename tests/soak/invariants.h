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
    /// Of a settled daemon. With the guard it has more descriptors; those of ports and of clients are not
    /// counted. While it answers, reads or loads a program it has more for a moment: what has grown must be
    /// seen again.
    std::string wrong(World& world, const Model& model);
    std::string text() const;

private:
    struct First {
        unsigned looks = 0;
        std::size_t kib = 0, descriptors = 0;
    };
    pid_t process_ = 0;
    std::array<First, 2> first_; ///< without and with the guard
    std::size_t kib_ = 0, descriptors_ = 0;
};

} // namespace teamo::soak
