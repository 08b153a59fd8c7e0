// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/team/bond_steering.h"

#include <algorithm>

namespace teamo {

HashFields hash_fields_of(BondPolicy policy) {
    switch (policy) {
    case BondPolicy::layer2: return HashFields{} | HashField::eth;
    case BondPolicy::layer23:
    case BondPolicy::encap23: return HashField::eth | HashField::ipv4 | HashField::ipv6;
    case BondPolicy::layer34:
    case BondPolicy::encap34:
        return HashField::ipv4 | HashField::ipv6 | HashField::tcp | HashField::udp | HashField::sctp;
    case BondPolicy::vlan_srcmac: break;
    }
    return {};
}

Unsteered BondSteering::obstacle(const View& bond) const {
    if (bond.mode != bond_mode_xor && bond.mode != bond_mode_lacp) return Unsteered::mode;
    if (!own_policy() || own_policy() == BondPolicy::vlan_srcmac) return Unsteered::policy;
    if (own_policy() == BondPolicy::layer34 && bond.offloads_tls) return Unsteered::device_tls;
    if (bond.slaves > max_ports) return Unsteered::slaves;
    return bond.has_programs ? Unsteered::nothing : Unsteered::programs;
}

/// What another program writes wins: it is the policy to come back to.
void BondSteering::step(const View& bond, Clock::time_point now) {
    deadline_.reset();
    if (policy_ == steering_policy && now - changed_at_ >= peace) undone_ = again_ = false;
    if (bond.policy != policy_) {
        if (bond.policy != steering_policy) former_.reset();
        if (policy_) { // not the first time
            undone_ = true;
            changed_at_ = now;
        }
        policy_ = bond.policy;
    }
    reason_ = obstacle(bond);
    if (reason_ != Unsteered::nothing || policy_ == steering_policy || !undone_) return;
    if (again_) {
        reason_ = Unsteered::owner;
    } else if (now - changed_at_ < quiet) {
        reason_ = Unsteered::waits;
        deadline_ = changed_at_ + quiet;
    }
}

std::optional<BondPolicy> BondSteering::to_write(bool attached) const {
    const bool is_ours = former_ && policy_ == steering_policy;
    if (reason_ != Unsteered::nothing) return is_ours ? former_ : std::nullopt;
    return attached && policy_ != steering_policy ? std::optional(steering_policy) : std::nullopt;
}

std::optional<IfIndex> takeover(const Links& links, const Link& bond) {
    const auto* active = find_link(links, bond.bond_active);
    if (bond.bond_mode != bond_mode_active_backup || active == nullptr || active->has_link() ||
        bond.bond_down_delay != 0)
        return std::nullopt;
    const Link* best = nullptr;
    const auto rank = [&](const Link& slave) { // drivers/net/bonding/bond_main.c: bond_find_best_slave()
        return std::pair(slave.index == bond.bond_primary, slave.bond_prio);
    };
    for (const auto& [index, link] : links)
        if (link.master == bond.index && link.has_link() && link.bond_uses_link &&
            (best == nullptr || rank(link) > rank(*best)))
            best = &link;
    return best == nullptr ? std::nullopt : std::optional(best->index);
}

BondSteering::View view_of(const Links& links, const Link& bond) {
    const auto slaves =
        std::ranges::count_if(links, [&](const auto& entry) { return entry.second.master == bond.index; });
    return {.mode = bond.bond_mode.value_or(0),
            .policy = bond.bond_policy,
            .slaves = static_cast<std::size_t>(slaves)};
}

void BondSteering::note_written(BondPolicy policy) {
    if (policy == steering_policy) {
        former_ = policy_;
        again_ = undone_;
    } else {
        former_.reset();
    }
    policy_ = policy;
}

} // namespace teamo
