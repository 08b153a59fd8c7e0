// SPDX-License-Identifier: LGPL-2.1-or-later
//
// One pass: what the kernel shows, what the runner decides, what follows from it, and what must change for
// that. Called after every batch of events and whenever a delay is over; where nothing has changed it does
// nothing.
#include "team/team.h"

#include "base/match.h"
#include "plan/team/reception.h"
#include "team/port_device.h"

#include <linux/if.h>

#include <algorithm>

namespace teamo {

void Team::pass() {
    const auto news = observer_->news();
    if (find_link(observer_->links(), device_.team) == nullptr) {
        if (const auto failed = std::exchange(failed_, nullptr))
            failed(Error{ENODEV, fmt::format("device {} was removed by somebody else", name())});
        return;
    }
    drop_vanished();
    settle_due();
    follow_masters();
    update_uppers();
    // What carries is settled before anything slower: a lost port is out with one write.
    step_watches();
    decide();
    join_awaited();
    step_watches();
    const bool other_offloads = offloads_->step(Clock::now());
    if (other_offloads || step(runner_, candidates()) != decision_) decide();

    std::set<IfIndex> followed;
    std::optional<Clock::time_point> deadline;
    for (const auto& port : ports_) {
        followed.insert(port.index);
        for (const auto& here : {port.watch.deadline(), port.mtu_repair.deadline()})
            if (here && (!deadline || *here < *deadline)) deadline = here;
    }
    for (const auto& here : {offloads_->deadline(), next_try()})
        if (here && (!deadline || *here < *deadline)) deadline = here;
    // What was taken in meanwhile has been looked at in part only.
    if (observer_->news() != news) deadline = Clock::now();
    carrier_monitor_->follow(followed);
    interrupts_->follow(ports_with_interrupts());
    if (tables_.mode == TransmitMode::hash) port_cpus_->follow(ports_with_cpus());
    if (deadline)
        timer_->at(*deadline);
    else
        timer_->stop();
}

/// When to pass again although nothing happens, since something was refused and may be done later.
std::optional<Clock::time_point> Team::next_try() const {
    std::optional<Clock::time_point> first;
    const auto at = [&first](const Patience& patience) {
        if (!first || patience.next() < *first) first = patience.next();
    };
    for (const auto& refused : refused_)
        if (refused.patience) at(*refused.patience);
    for (const auto& [port, refused] : refused_ports_)
        if (refused.patience) at(*refused.patience);
    for (const auto& [port, patience] : leaving_)
        at(patience);
    if (!complaint_.empty()) at(tables_patience_);
    if (!journal_complaint_.empty()) at(journal_patience_);
    return first;
}

void Team::decide() {
    // Gone since this pass began: the next one ends it.
    if (find_link(observer_->links(), device_.team) == nullptr) return;
    decision_ = step(runner_, candidates());
    auto next = plan(decision_);
    balancing_->hold(tables_, next.tables);
    put_into_effect(next);
}

void Team::step_watches() {
    const auto now = Clock::now();
    for (auto& port : ports_) {
        const auto* link = find_link(observer_->links(), port.index);
        const bool has_link = link != nullptr && link->has_link();
        // Speed and duplex are those of a link: they are read when there is a new one.
        if (has_link && !port.had_link) {
            read_modes(port);
            offloads_->mark_stale(port.index);
        }
        port.had_link = has_link;
        port.watch.step(has_link, now);
    }
}

std::vector<Candidate> Team::candidates() const {
    std::vector<Candidate> list;
    for (const auto& port : ports_)
        list.push_back({.port = port.index,
                        .up = port.watch.up(),
                        .prio = port.config.prio,
                        .sticky = port.config.sticky,
                        .speed = port.modes.speed.value_or(0),
                        .duplex = port.modes.duplex,
                        .last = offloads_->is_last(port.index)});
    return list;
}

TeamPlan Team::plan(const Decision& decision) const {
    PlanInput input{.runner = &configuration_.team.runner,
                    .team = find_link(observer_->links(), device_.team),
                    .inner = device_.inner,
                    .members = {},
                    .owners = journal_.owners,
                    .notify_peers = configuration_.team.notify_peers,
                    .mcast_rejoin = configuration_.team.mcast_rejoin,
                    .limited_to = limited_to_,
                    .kernel_manages_ports = datapath_->kernel_manages_ports()};
    for (std::uint8_t slot = 1; slot <= max_ports; ++slot)
        if (tables_.ports[slot]) input.known |= bit(Slot{slot});
    input.measured = configuration_.team.balance.on;
    input.leaving = balancing_->leaving();
    input.drain = balancing_->drains();
    if (has(hash_fields_of(configuration_.team.runner), HashField::cpu))
        input.cpu_slots = port_cpus_->slots(ports_with_cpus());
    input.tags = takes_tags(observer_->links(), *input.team);
    input.other_addresses = takes_other_addresses(unicast_list_, *input.team);
    for (const auto& port : ports_) {
        const auto was = std::ranges::find(journal_.ports, port.index, &PortBefore::index);
        const auto* link = find_link(observer_->links(), port.index);
        const bool as_linked = link == nullptr || link->has_link() == port.watch.up();
        input.members.push_back(
            {.index = port.index,
             .slot = port.slot,
             .own_address = was == journal_.ports.end() ? input.team->address : was->address,
             .filters_tags = filters_tags(offloads_->features(port.index)),
             .settings = {.prio = port.config.prio,
                          .queue_id = port.config.queue_id.value_or(0),
                          .user_linkup = as_linked ? std::nullopt : std::optional(port.watch.up())},
             .gso_max = link == nullptr ? SegmentLimits{} : link->gso_max,
             .segments = offloads_->features(port.index).active.contains(tso),
             .to_set_up = was != journal_.ports.end() && was->taken_down});
    }
    return make_plan(input, decision);
}

void Team::put_into_effect(const TeamPlan& plan) {
    const bool lost = (tables_.transmit & ~plan.tables.transmit) != 0;
    const bool gained = (plan.tables.transmit & ~tables_.transmit) != 0;
    const bool backup = std::holds_alternative<ActiveBackupRunner>(configuration_.team.runner);
    // While the switches still send to the port that carried, what they send is taken in.
    auto between = plan.tables;
    for (std::uint8_t slot = 1; slot <= max_ports; ++slot)
        if (plan.tables.ports[slot] == tables_.ports[slot])
            between.receive |= tables_.receive & bit(Slot{slot});
    // Before any word is said: a lost port is out with this write. What it could not do is done below.
    static_cast<void>(datapath_->apply(between));
    if (plan.tables != tables_)
        for (const auto& port : candidates())
            log_(Level::debug,
                 fmt::format("decided on device {}: link {}, prio {}, {} Mbit/s{}", port.port.value,
                             port.up ? "up" : "down", port.prio, port.speed, port.sticky ? ", sticky" : ""));
    log_changes(decision_);
    apply(limit_mtu_repairs(changes(observer_->links(), plan)));
    if (plan.carrier && (backup ? lost || gained : lost)) announce(gained && datapath_->announces_gains());
    complain(complaint_, tables_patience_,
             "the datapath is not as it should be: ", datapath_->apply(plan.tables));
    const bool others = tables_.transmit != plan.tables.transmit || tables_.ports != plan.tables.ports;
    tables_ = plan.tables;
    journal_.owners = plan.owners;
    journal_.active = decision_.active;
    complain(journal_complaint_, journal_patience_, "", keep_journal());
    if (others && options_.changed) options_.changed();
}

/// Said once; tried again with a later pass.
void Team::complain(std::string& complaint, Patience& patience, std::string_view what, const Result<>& done) {
    if (done) {
        complaint.clear();
        patience = {};
        return;
    }
    if (done.error().text != complaint) log_(Level::error, fmt::format("{}{}", what, done.error().text));
    complaint = done.error().text;
    patience.refused(Clock::now());
}

/// A port's MTU that somebody else sets, while the team's stays, is put right as offloads are: not for ever.
std::vector<Change> Team::limit_mtu_repairs(std::vector<Change> list) {
    const auto* team = find_link(observer_->links(), device_.team);
    if (team == nullptr || team->mtu != mtu_) return list; // the team's own was set: ports follow
    for (auto& port : ports_) {
        const auto sets_mtu = [&port](const Change& change) {
            const auto* set = std::get_if<SetMtu>(&change);
            return set != nullptr && set->device == port.index;
        };
        const auto found = std::ranges::find_if(list, sets_mtu);
        const bool wrong = found != list.end() &&
                           std::ranges::find(refused_, *found, &RefusedChange::change) == refused_.end();
        const auto act = port.mtu_repair.step(wrong, Clock::now());
        if (!wrong) continue;
        const auto mtu = find_link(observer_->links(), port.index)->mtu;
        if (act == Repair::Act::attempt)
            log_(Level::notice, fmt::format("port {}: MTU {} is not the team's; set to {} again", port.name,
                                            mtu, team->mtu));
        if (act == Repair::Act::give_up)
            log_(Level::warning,
                 fmt::format("port {}: MTU {} was set by somebody else time and again, and is left so",
                             port.name, mtu));
        if (act != Repair::Act::attempt) list.erase(found);
    }
    return list;
}

void Team::apply(const std::vector<Change>& list) {
    std::erase_if(refused_, [&list](const RefusedChange& refused) {
        return std::ranges::find(list, refused.change) == list.end();
    });
    for (const auto& change : list) {
        auto earlier = std::ranges::find(refused_, change, &RefusedChange::change);
        const bool again = earlier != refused_.end();
        if (again && !(earlier->patience && earlier->patience->is_over(Clock::now()))) continue;
        const auto done = apply(change);
        if (done && again) refused_.erase(earlier);
        if (done) continue;
        if (!again) {
            log_(Level::warning, done.error().text);
            earlier =
                refused_.insert(refused_.end(), {.change = change, .said = {}, .patience = std::nullopt});
        }
        earlier->said = done.error().text;
        await_passing(earlier->patience, is_passing(done.error()), Clock::now());
        // One port that cannot take the team's MTU would lose every larger packet: the team keeps the one
        // that all ports had, as the kernel's driver does.
        if (std::holds_alternative<SetMtu>(change) && mtu_ != 0) {
            if (control_.set_mtu(device_.team, mtu_)) observer_->edit(device_.team)->mtu = mtu_;
            return;
        }
    }
    if (const auto* team = find_link(observer_->links(), device_.team); team != nullptr) mtu_ = team->mtu;
}

Result<> Team::apply(const Change& change) {
    const auto index = std::visit([](const auto& one) { return one.device; }, change);
    auto* link = observer_->edit(index);
    if (link == nullptr) return {};
    const auto tell = [name = link->name](Result<> done, std::string_view what) -> Result<> {
        if (!done && done.error().number != ENODEV)
            return within(fmt::format("{}: {}", name, what), std::move(done.error()));
        return {};
    };
    return std::visit(
        Match{[&](const SetAddress& set) {
                  auto done = set_address(control_, *link, set.to,
                                          [this, index](bool down) { return note_taken_down(index, down); });
                  if (done)
                      link->address = set.to;
                  else // how far it got is the device's to say
                      static_cast<void>(observer_->read_now(index));
                  return tell(std::move(done), fmt::format("address {}", text_of(set.to)));
              },
              [&](const SetMtu& set) {
                  auto done = control_.set_mtu(index, set.to);
                  if (done) link->mtu = set.to;
                  return tell(std::move(done), fmt::format("MTU {}", set.to));
              },
              [&](const SetSegmentLimits& set) {
                  auto done = control_.set_segment_limits(index, set.to);
                  if (done) link->gso_max = limited_to_ = set.to;
                  return tell(std::move(done), fmt::format("segmentation limits {} bytes, {} segments",
                                                           set.to.size, set.to.segs));
              },
              [&](const SetFlags& set) {
                  auto done = control_.set_flags(index, set.flags, set.mask);
                  if (done) link->flags = (link->flags & ~set.mask) | set.flags;
                  if (done && (set.flags & IFF_UP) != 0) done = note_taken_down(index, false);
                  return tell(std::move(done), "flags");
              }},
        change);
}

/// A port that is down for a moment by our doing is set up again by who finds it so.
Result<> Team::note_taken_down(IfIndex port, bool down) {
    auto* was = before(port);
    if (was == nullptr) return {};
    was->taken_down = down;
    return keep_journal();
}

/// `by_kernel`: where a count is set, the kernel does it.
void Team::announce(bool by_kernel) {
    // Asked for nothing, a lost way is still told once: neighbours that are not told send into the void.
    const auto left_to_us = [by_kernel](Repetition repetition) {
        if (by_kernel && repetition.count > 0) return Repetition{};
        if (!repetition.configured) repetition.count = std::max(repetition.count, 1U);
        return repetition;
    };
    const auto& peers = configuration_.team.notify_peers;
    const bool kernel_tells = by_kernel && peers.count > 0;
    announcer_->announce(device_.team, kernel_tells ? peers : left_to_us(peers),
                         left_to_us(configuration_.team.mcast_rejoin), kernel_tells);
}

void Team::log_changes(const Decision& decision) {
    if (decision.active && decision.active != journal_.active)
        for (const auto& port : ports_)
            if (port.index == *decision.active)
                log_(Level::notice, fmt::format("active port {}", port.name), message_id::active_changed,
                     {{"PORT", port.name}});
    for (const auto& port : ports_) {
        const bool now = std::ranges::find(decision.transmit, port.index) != decision.transmit.end();
        const bool was =
            tables_.ports[port.slot.value] == port.index && (tables_.transmit & bit(port.slot)) != 0;
        if (now == was) continue;
        const auto* link = find_link(observer_->links(), port.index);
        const auto reason = now                                  ? "carries"
                            : link != nullptr && port.watch.up() ? "carries no more"
                                                                 : "lost its link, carries no more";
        log_(now ? Level::notice : Level::warning,
             fmt::format("port {} {}; {} of {} ports carry", port.name, reason, decision.transmit.size(),
                         ports_.size()),
             now ? message_id::port_back : message_id::port_lost, {{"PORT", port.name}});
    }
}

Result<> Team::keep_journal() {
    if (journal_ == written_) return {};
    if (auto written = write_journal(name(), journal_); !written) return written;
    written_ = journal_;
    return {};
}

} // namespace teamo
