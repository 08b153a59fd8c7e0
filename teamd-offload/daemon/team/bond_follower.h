// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A bond in its own mode: its policy, its active slave, and whether it is steered. Of another program
// (docs/adr/0038) or ours (docs/adr/0039); idle with other datapaths.
#pragma once

#include "daemon/offloads/offloads.h"
#include "daemon/team/ports/port_set.h"
#include "model/attached.h"
#include "plan/team/bond_steering.h"

namespace teamo {

class BondFollower {
public:
    BondFollower(TeamContext& context, Subsystems& subsystems, const PortSet& ports)
        : context_(context), subsystems_(subsystems), ports_(ports) {}

    /// What the programs of the bond do.
    Steering steering() const;
    /// After the journal was read: the policy that an earlier daemon has replaced. The device is known.
    void begin();
    /// Of a bond of ours that this daemon has not made: says that it has other settings of LACP.
    void note_lacp();
    /// Before the reconciler: what the bond is like now decides runner and hash, and whether the tables are
    /// used.
    void observe();
    /// After it, when the program is there: sets the policy. `active`: the runner's active port.
    void settle(std::optional<IfIndex> active = std::nullopt);
    /// By request: makes a slave of an active-backup bond active.
    Result<> make_active(IfIndex slave);
    /// The slave that another program has made active, once; the configured runner follows it.
    std::optional<IfIndex> take_active_by_hand() { return std::exchange(by_hand_, std::nullopt); }
    /// At the stop: a bond of others gets its policy back, then the program goes.
    void end();
    std::optional<Clock::time_point> deadline() const;
    /// None: the team is ours.
    std::optional<AttachedStatus> status() const;
    /// Why a bond of ours is not steered; empty: it is, or it is no bond of ours.
    std::string lack() const;

private:
    BondSteering::View view(const Link& bond) const;
    bool is_idle() const;
    void set_runner(const Link& bond);
    bool may_choose() const;
    void take_over();
    void follow_active();
    void choose(std::optional<IfIndex> active);
    AttachedStatus describe() const;
    Result<> set_active(IfIndex slave);
    void settle_policy();
    bool write(BondPolicy policy);

    TeamContext& context_;
    Subsystems& subsystems_;
    const PortSet& ports_;
    BondSteering steering_;
    bool ended_ = false;
    LogOnce lacp_differs_;
    LogOnce reason_;                   ///< why it is not steered
    LogOnce failure_;                  ///< of the last write of the policy
    std::optional<Patience> patience_; ///< after a failure of that
    std::optional<Patience> active_patience_, steering_patience_;
    LogOnce active_failure_, steering_failure_;
    std::pair<IfIndex, std::uint32_t> taken_over_{}; ///< the slave that lost its link, and how often then
    IfIndex active_{}, chosen_{};                    ///< as last seen, and as last chosen by the runner
    std::uint32_t active_losses_ = 0;                ///< of the active slave's link, when it was seen last
    std::optional<IfIndex> by_hand_;
};

} // namespace teamo
