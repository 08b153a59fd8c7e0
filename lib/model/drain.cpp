// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/drain.h"

#include <fmt/format.h>

namespace teamo {

std::string text_of(const DrainStatus& drain) {
    switch (drain.phase) {
    case DrainPhase::none:
    case DrainPhase::drained: break;
    case DrainPhase::moving:
        return "it still sends, because its traffic does not pause or no other port carries";
    case DrainPhase::emptying: return "packets still leave by it";
    case DrainPhase::telling: return "its LACP partner has not stopped to distribute, and has been told so";
    case DrainPhase::receiving:
        return fmt::format("the other end still sends to it, {} frames in the last second, and would lose "
                           "them; take the port out of the aggregate there",
                           drain.received);
    }
    return {};
}

} // namespace teamo
