// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/named.h"
#include "base/result.h"

#include <cstdint>

namespace teamo {

/// A token bucket (tc-tbf(8)).
struct Shaper {
    std::uint64_t rate = 0;  ///< bytes per second
    std::uint32_t burst = 0; ///< bytes; a GSO packet that is larger is segmented
    std::uint32_t limit = 0; ///< bytes of the queue
};

/// Makes a token bucket the root qdisc of a device without one.
Result<> add_shaper(IfIndex device, const Shaper& shaper);

} // namespace teamo
