// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The devices of a team and its ports: what is changed on them, and what the devices above the team need.
#pragma once

#include "daemon/context/team_context.h"
#include "daemon/team/ports/port_set.h"
#include "plan/team/make_plan.h"
#include "plan/team/repair.h"

namespace teamo {

/// Carries out the changes of a plan on the devices, and remembers what the kernel refused: a refused change
/// is not tried again while it stands, unless the refusal may pass.
class DeviceChanges {
public:
    explicit DeviceChanges(TeamContext& context) : context_(context) {}

    /// The team's device as it was made or found.
    void begin(const Link& team);
    void apply(std::vector<Change> list, const std::vector<TeamPort>& ports);
    /// When to apply again although nothing happens.
    std::optional<Clock::time_point> deadline() const;
    /// The team's carrier as it was set last; none: it was not.
    std::optional<bool> carrier_set() const { return carrier_set_; }
    /// The team's GSO limits, as set by us.
    SegmentLimits limited_to() const { return limited_to_; }
    /// The kernel's error messages for refused changes, and what other programs keep changing.
    std::vector<std::string> refused() const;

private:
    /// A setting that another program has changed, in words.
    struct Drift {
        std::string repaired, given_up;
    };

    void spare_replaced(std::vector<Change>& list, const std::vector<TeamPort>& ports) const;
    std::optional<Drift> drift_of(const Change& change) const;
    std::vector<Change> limit_repairs(std::vector<Change> list);
    bool sets_port_mtu(const Change& change) const;
    Result<> apply_one(const Change& change);
    Result<> set(const Link& link, const Change& change);

    TeamContext& context_;
    struct Refused {
        Change change;
        std::string text{};
        std::optional<Patience> patience{};
    };
    std::vector<Refused> refused_;
    struct Repaired {
        Repair repair{};
        std::string given_up{};
    };
    std::map<std::pair<IfIndex, std::size_t>, Repaired> repairs_; ///< by device and kind of change
    std::optional<bool> carrier_set_;
    SegmentLimits limited_to_;
    std::uint32_t mtu_ = 0; ///< the team's last MTU that every port took
};

/// Which addresses the team must receive for the devices above it. A macvlan adds its address to the team's
/// unicast list and, if the team's device does not filter (no IFF_UNICAST_FLT: veth, and netkit in
/// Debian's 6.12), makes it promiscuous; the kernel reports neither (net/core/dev_addr_lists.c:
/// __dev_set_rx_mode). So both are read when the devices above the team change, and by a poll, since events
/// from the namespace of a container do not arrive here.
class UpperDevices {
public:
    explicit UpperDevices(TeamContext& context) : context_(context) {}

    /// Reads the team's addresses if the devices above it have changed. True: the devices have changed.
    bool update();
    /// Reads the team's addresses now; not `all`: only if its promiscuity has changed, as by a macvlan in
    /// another namespace. True: they have changed.
    bool update_addresses(bool all = true);

    /// All devices above the team.
    std::set<IfIndex> all() const;
    /// The team's unicast addresses besides its own.
    const std::vector<MacAddress>& unicast_list() const { return unicast_list_; }

private:
    TeamContext& context_;
    std::vector<std::pair<IfIndex, std::uint32_t>> uppers_; ///< master, then devices on the team with IFF_*
    std::vector<MacAddress> unicast_list_;
    std::uint32_t listed_promiscuity_ = 0; ///< when the list was read
};

} // namespace teamo
