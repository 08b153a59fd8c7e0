// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What must be true of a world that is left alone (ARCHITECTURE.md, "Invariants"). Each function returns what
// is wrong, "" if nothing is.
#pragma once

#include "soak/state.h"
#include "soak/world.h"

namespace teamo::soak {

/// None if the daemon does not answer.
std::optional<Document> state_of_team();

/// The state document, the devices, the filters, the marks and the journal are those of the model. It can be
/// asked again until it is true.
std::string wrong_state(World& world, const Model& model, const Document& state);

/// Packets pass both ways, by each port that carries. By a port that does not receive they are counted.
std::string wrong_traffic(World& world, const Model& model, const Document& state);

/// Everything is as before: after SIGTERM.
std::string wrong_end(World& world);

} // namespace teamo::soak
