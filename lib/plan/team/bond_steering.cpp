// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/team/bond_steering.h"

#include <algorithm>
#include <functional>
#include <iterator>

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
    if (bond.by_source && bond.mode != bond_mode_xor) return Unsteered::mode;
    if (bond.by_source && bond.probes) return Unsteered::arp;
    if (bond.mode == bond_mode_active_backup) {
        if (!bond.shares_address) return Unsteered::addresses;
        if (bond.waits) return Unsteered::delay;
    } else {
        if (!by_hash_) return Unsteered::mode;
        if (is_ours_) return bond.has_programs ? Unsteered::nothing : Unsteered::programs;
        // With slb one address in one VLAN has one port, as vlan+srcmac wants it.
        if (!own_policy() || (own_policy() == BondPolicy::vlan_srcmac && !bond.by_source))
            return Unsteered::policy;
        if (own_policy() == BondPolicy::layer34 && bond.offloads_tls) return Unsteered::device_tls;
    }
    if (bond.slaves > max_ports) return Unsteered::slaves;
    return bond.has_programs ? Unsteered::nothing : Unsteered::programs;
}

/// What another program writes wins: it is the policy to come back to.
void BondSteering::step(const View& bond, Clock::time_point now) {
    deadline_.reset();
    if (policy_ == steering_policy && now - changed_at_ >= peace) {
        undone_ = again_ = false;
        rounds_ = 0;
    }
    constexpr unsigned most_doubled = 8; // times two seconds: nine minutes
    const auto pause = quiet * (1U << std::min(rounds_, most_doubled));
    if (bond.policy != policy_) {
        if (bond.policy != steering_policy) former_.reset();
        if (policy_) { // not the first time
            undone_ = true;
            changed_at_ = now;
        }
        policy_ = bond.policy;
    }
    by_hash_ = bond.mode == bond_mode_xor || bond.mode == bond_mode_lacp;
    reason_ = obstacle(bond);
    if (reason_ != Unsteered::nothing || !by_hash_ || policy_ == steering_policy || !undone_) return;
    if (again_) {
        reason_ = Unsteered::owner;
    } else if (now - changed_at_ < pause) {
        reason_ = Unsteered::waits;
        deadline_ = changed_at_ + pause;
    }
}

std::optional<BondPolicy> BondSteering::to_write(bool attached) const {
    const bool is_ours = former_ && policy_ == steering_policy;
    if (reason_ != Unsteered::nothing || !by_hash_) return is_ours ? former_ : std::nullopt;
    return attached && policy_ != steering_policy ? std::optional(steering_policy) : std::nullopt;
}

namespace {

/// drivers/net/bonding/bond_main.c: bond_find_best_slave()
std::vector<IfIndex> backups(const Links& links, const Link& bond) {
    std::vector<const Link*> found;
    for (const auto& [index, link] : links)
        if (link.master == bond.index && index != bond.bond_active && link.bond_uses_link)
            found.push_back(&link);
    const auto rank = [&](const Link* slave) {
        return std::pair(slave->index == bond.bond_primary, slave->bond_prio);
    };
    std::ranges::stable_sort(found, std::ranges::greater{}, rank);
    std::vector<IfIndex> list;
    std::ranges::transform(found, std::back_inserter(list), &Link::index);
    return list;
}

} // namespace

Decision chosen_by_bonding(const Links& links, const Link& bond, std::span<const Candidate> ports,
                           const Decision& wanted) {
    const auto is_port = [ports](IfIndex slave) {
        return std::ranges::find(ports, slave, &Candidate::port) != ports.end();
    };
    Decision decision;
    std::ranges::copy_if(backups(links, bond), std::back_inserter(decision.standby), is_port);
    std::ranges::stable_sort(decision.standby, {}, [&wanted](IfIndex slave) {
        if (slave == wanted.active) return std::ptrdiff_t{-1};
        return std::ranges::find(wanted.standby, slave) - wanted.standby.begin();
    });
    for (const auto& port : ports) {
        if (bond.bond_takes_all) decision.receive.push_back(port.port);
        if (port.port != bond.bond_active) continue;
        decision.active = port.port;
        decision.standby.push_back(port.port);
        const auto* link = find_link(links, port.port);
        if (link != nullptr && link->has_link()) decision.transmit.push_back(port.port);
    }
    if (!bond.bond_takes_all) decision.receive = decision.transmit;
    if (wanted.active == decision.active) decision.choice = wanted.choice;
    return decision;
}

std::optional<IfIndex> takeover(const Links& links, const Link& bond) {
    const auto* active = find_link(links, bond.bond_active);
    if (bond.bond_mode != bond_mode_active_backup || active == nullptr || active->has_link() ||
        bond.bond_down_delay != 0)
        return std::nullopt;
    const auto list = backups(links, bond);
    const auto next = std::ranges::find_if(list, [&](IfIndex slave) { return links.at(slave).has_link(); });
    return next == list.end() ? std::nullopt : std::optional(*next);
}

BondSteering::View view_of(const Links& links, const Link& bond) {
    const auto slaves =
        std::ranges::count_if(links, [&](const auto& entry) { return entry.second.master == bond.index; });
    return {.mode = bond.bond_mode.value_or(0),
            .policy = bond.bond_policy,
            .slaves = static_cast<std::size_t>(slaves),
            .shares_address = bond.bond_shares_address,
            .waits = bond.bond_down_delay != 0,
            .probes = bond.bond_arp_interval != 0};
}

void BondSteering::note_written(BondPolicy policy) {
    if (is_ours_) {
        undone_ = false;
        ++rounds_;
    } else if (policy == steering_policy) {
        former_ = policy_;
        again_ = undone_;
    } else {
        former_.reset();
    }
    policy_ = policy;
}

} // namespace teamo
