// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Whether and how a bond in its own mode is steered: of another program (docs/adr/0038), or ours
// (docs/adr/0039). A value: what the bond is like and the time in, decisions out.
#pragma once

#include "base/clock.h"
#include "model/attached.h"
#include "model/config.h"
#include "model/observation.h"
#include "runner/runner.h"

namespace teamo {

/// The policy with which bonding takes the hash of a packet as it is.
inline constexpr auto steering_policy = BondPolicy::encap34;

/// The fields that select the port as the policy does: packets that it keeps together stay together. The
/// encap policies look into tunnels, whose outer fields keep them together as well.
HashFields hash_fields_of(BondPolicy policy);

class BondSteering {
public:
    /// How long a policy that another program has written must stand before ours is set once more.
    static constexpr std::chrono::seconds quiet{2};
    /// While ours stands as long as that, an earlier change does not count any more.
    static constexpr std::chrono::minutes peace{10};

    /// The bond as it is now.
    struct View {
        BondMode mode = 0;
        std::optional<BondPolicy> policy{}; ///< none: not known
        std::size_t slaves = 0;
        bool shares_address = true; ///< fail_over_mac is none
        bool waits = false;         ///< downdelay is not 0
        bool offloads_tls = false;  ///< a slave has device TLS switched on
        bool by_source = false;     ///< the runner is slb, which needs balance-xor
        bool probes = false;        ///< bonding's ARP monitor is on
        bool has_programs = true;   ///< the kernel accepts the programs that steer
    };

    /// `former`: the policy that an earlier daemon has replaced; none: it has replaced none.
    explicit BondSteering(std::optional<BondPolicy> former = std::nullopt) : former_(former) {}
    /// A bond of ours, made with the policy that steers it: that of another program is replaced each time,
    /// but twice as late as the last time.
    static BondSteering of_ours() {
        BondSteering steering;
        steering.is_ours_ = true;
        return steering;
    }

    /// Call it after every change of the bond, and at deadline().
    void step(const View& bond, Clock::time_point now);
    /// The policy that must be written now; none: none. `attached`: the program is there, which comes first.
    std::optional<BondPolicy> to_write(bool attached) const;
    /// After it was written.
    void note_written(BondPolicy policy);
    /// Its owner has written this policy in the moment before ours was, unseen: it is what must come back.
    void note_overwritten(BondPolicy policy) {
        if (former_) former_ = policy;
    }
    std::optional<Clock::time_point> deadline() const { return deadline_; }

    /// Why it is not steered; `nothing`: it is, or will be when the policy is written.
    Unsteered reason() const { return reason_; }
    /// The policy that the bond's owner has chosen; none before the first step.
    std::optional<BondPolicy> own_policy() const { return former_ ? former_ : policy_; }
    /// The policy that must come back, for the journal; none: ours is not set.
    std::optional<BondPolicy> former() const { return former_; }

private:
    Unsteered obstacle(const View& bond) const;

    bool is_ours_ = false;
    unsigned rounds_ = 0; ///< how often a policy was replaced
    std::optional<BondPolicy> former_, policy_;
    bool by_hash_ = false; ///< as the mode is
    Unsteered reason_ = Unsteered::nothing;
    bool undone_ = false; ///< another program has changed the policy
    bool again_ = false;  ///< and ours was set once more
    Clock::time_point changed_at_{};
    std::optional<Clock::time_point> deadline_;
};

/// What bonding has chosen in active-backup, as a runner would have: `standby` has the backups, and last the
/// active slave, which is a backup when bonding has changed it without a daemon. `wanted`: by the runner that
/// decides which slave becomes active, whose order the backups have; without its active port, and without it,
/// those come first that bonding prefers.
Decision chosen_by_bonding(const Links& links, const Link& bond, std::span<const Candidate> ports,
                           const Decision& wanted = {});

/// The slave of an active-backup bond that must become active now, because the active one has lost its link
/// and bonding has not noticed it (miimon): that which bonding would choose. None: there is nothing to do, or
/// its owner wants bonding to wait (downdelay).
std::optional<IfIndex> takeover(const Links& links, const Link& bond);

/// Without offloads_tls and has_programs, which the devices do not show.
BondSteering::View view_of(const Links& links, const Link& bond);

} // namespace teamo
