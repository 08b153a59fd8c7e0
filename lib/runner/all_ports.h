// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "runner/candidate.h"

#include <span>

namespace teamo {

/// Every port that is up sends; those that are `last` only if no other port is up. Received packets are
/// delivered from every port.
class AllPorts {
public:
    static Decision step(std::span<const Candidate> ports);
};

} // namespace teamo
