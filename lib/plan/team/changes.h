// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The changes that turn the present devices into the planned ones; none if they are equal.
#pragma once

#include "model/observation.h"
#include "plan/team/make_plan.h"

#include <variant>
#include <vector>

namespace teamo {

struct SetAddress {
    IfIndex device;
    MacAddress to;
    bool operator==(const SetAddress&) const = default;
};
struct SetMtu {
    IfIndex device;
    std::uint32_t to;
    bool operator==(const SetMtu&) const = default;
};
/// Sets the IFF_* bits in `mask` to those of `flags`.
struct SetFlags {
    IfIndex device;
    std::uint32_t flags, mask;
    bool operator==(const SetFlags&) const = default;
};
struct SetSegmentLimits {
    IfIndex device;
    SegmentLimits to;
    bool operator==(const SetSegmentLimits&) const = default;
};
using Change = std::variant<SetMtu, SetFlags, SetAddress, SetSegmentLimits>;

/// In the order to apply them: a port's MTU and filters before its address, ports before the team, so that no
/// port gets packets that it cannot handle yet; the team's carrier last.
std::vector<Change> changes(const Links& links, const TeamPlan& plan);

} // namespace teamo
