// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What of a change is announced to switches and neighbours.
#include "daemon/team/reconciler.h"
#include "plan/team/make_plan.h"

#include <algorithm>
#include <utility>

namespace teamo {
namespace {

/// Without configured counts a lost path is announced once, or neighbours keep sending to it.
Repetition once_at_least(Repetition repetition) {
    if (!repetition.configured) repetition.count = std::max(repetition.count, 1U);
    return repetition;
}

} // namespace

/// Sets `moved_` after a short loss of the active port's link: it may have moved the traffic to a standby
/// port and back, without a change of the tables, so switches must learn the way again.
void Reconciler::note_short_loss(const TeamPlan& plan) {
    const auto* active = decision_.active ? context_.link(*decision_.active) : nullptr;
    if (active == nullptr || !active->has_link()) return;
    const bool bounced = active_ == active->index && active_losses_ != active->carrier_losses;
    if (bounced && plan.tables.standby.front()) moved_ = true;
    active_ = active->index;
    active_losses_ = active->carrier_losses;
}

/// By slot: Link::carrier_losses.
Reconciler::LinkLosses Reconciler::link_losses() const {
    LinkLosses losses{};
    for (const auto& port : ports_.all())
        if (const auto* link = context_.link(port.index)) losses[port.slot.value] = link->carrier_losses;
    return losses;
}

/// With the runner slb: the buckets whose addresses the switches must learn at another port. A port that has
/// lost its link for a moment may have left them to another one and got them back.
BucketSet Reconciler::moved_buckets(const Tables& next) {
    if (kind_of(next.hash_fields) != HashKind::by_source) return {};
    BucketSet moved;
    const auto losses = link_losses();
    const auto before = std::exchange(losses_, losses);
    if (next.hash_fields != tables_.hash_fields) return {};
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
        const auto was = leaves_by(tables_, bucket), is = leaves_by(next, bucket);
        const bool bounced =
            before[is.value] != losses[is.value] && tables_.ports[is.value] == next.ports[is.value];
        moved[bucket] = is && (was != is || bounced);
    }
    return moved;
}

/// Call it before the new tables are noted. `had_link`: the team, at the beginning of the pass.
void Reconciler::announce_news(const TeamPlan& plan, bool had_link) {
    const bool lost = (tables_.transmit & ~plan.tables.transmit) != 0;
    const bool gained = (plan.tables.transmit & ~tables_.transmit) != 0;
    const bool is_activebackup = context_.is_activebackup();
    const bool is_by_source = kind_of(plan.tables.hash_fields) == HashKind::by_source;
    note_short_loss(plan);
    const bool moved = std::exchange(moved_, false);
    unannounced_ |= moved_buckets(plan.tables);
    // Bonding itself announces what it has changed.
    const bool could_move =
        context_.datapath->steers() && plan.tables.standby[1]; // the last is the active one
    const bool is_news = plan.is_guest ? moved && could_move : lost || moved || (is_activebackup && gained);
    // Until linkwatch has processed the carrier, which this pass may have set, the kernel drops without a
    // word what the team sends.
    const bool can_send = plan.carrier && had_link;
    if (can_send && is_news && (moved || !is_by_source))
        announce(gained && context_.datapath->announces_gains());
    if (can_send && is_by_source) announce_moved(std::exchange(unannounced_, {}), lost);
    if (is_news && !can_send && !decision_.transmit.empty()) moved_ = true; // told with the link
}

void Reconciler::announce_moved(const BucketSet& buckets, bool lost) {
    if (buckets.none() && !lost) return;
    const auto& config = context_.config();
    subsystems_.announcer->announce_moved(context_.device.team, context_.device.inner, buckets,
                                          config.notify_peers,
                                          lost ? once_at_least(config.mcast_rejoin) : Repetition{});
}

/// `by_kernel`: the kernel announces by itself if a count is configured.
void Reconciler::announce(bool by_kernel) {
    const auto left_to_us = [by_kernel](const Repetition& repetition) {
        return by_kernel && repetition.count > 0 ? Repetition{} : once_at_least(repetition);
    };
    const auto& peers = context_.config().notify_peers;
    const bool kernel_announces = by_kernel && peers.count > 0;
    subsystems_.announcer->announce(context_.device.team, context_.device.inner,
                                    kernel_announces ? peers : left_to_us(peers),
                                    left_to_us(context_.config().mcast_rejoin), kernel_announces);
}

} // namespace teamo
