// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Carries out the changes of a plan on the devices, and remembers what the kernel refused: a refused change
// is not tried again while it stands, unless the refusal may pass.
#pragma once

#include "plan/team/make_plan.h"
#include "plan/team/repair.h"
#include "team/context.h"
#include "team/ports/port_set.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace teamo {

class DeviceChanges {
public:
    explicit DeviceChanges(TeamContext& context) : context_(context) {}

    /// The team's device as it was made or found.
    void begin(const Link& team);
    void apply(std::vector<Change> list, const std::vector<TeamPort>& ports);
    /// When to apply again although nothing happens.
    std::optional<Clock::time_point> deadline() const;
    /// The team's GSO limits, as set by us.
    SegmentLimits limited_to() const { return limited_to_; }
    /// The kernel's error messages for refused changes.
    std::vector<std::string> refused() const;

private:
    std::vector<Change> limit_mtu_repairs(std::vector<Change> list, const std::vector<TeamPort>& ports);
    Result<> apply_one(const Change& change);
    Result<> set_address_of(Link& link, const MacAddress& to);
    Result<> note_taken_down(IfIndex port, bool down);

    TeamContext& context_;
    struct Refused {
        Change change;
        std::string text;
        std::optional<Patience> patience;
    };
    std::vector<Refused> refused_;
    std::map<IfIndex, Repair> mtu_repairs_; ///< by port
    SegmentLimits limited_to_;
    std::uint32_t mtu_ = 0; ///< the team's last MTU that every port took
};

} // namespace teamo
