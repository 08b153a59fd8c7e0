// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/team/reconciler.h"

#include "kernel/files/device_files.h"
#include "plan/team/bond_steering.h"
#include "plan/team/make_plan.h"

#include <linux/if_ether.h>

#include <algorithm>

namespace teamo {

Tables Reconciler::begin() {
    changes_.begin(*context_.team());
    start_runner();
    return plan(*context_.team()).tables;
}

const Tables& Reconciler::adopt() {
    changes_.begin(*context_.team()); // the GSO limits count as set by us: their origin is not known
    start_runner();
    decide();
    const auto owners = context_.journal.now().owners;
    // The journal's owners were made for these ports, and stay as they are.
    for (const auto& port : ports_.all())
        tables_.ports[port.slot.value] = port.index;
    tables_ = plan(*context_.team()).tables;
    losses_ = link_losses();
    for (const auto& port : ports_.all()) // one that has no bucket was drained
        if (std::ranges::count(owners, port.slot) == 0) drained_ |= bit(port.slot);
    // While no daemon ran, the datapath has moved the traffic of a lost port.
    const bool is_lost = std::ranges::any_of(
        owners, [this](Slot slot) { return slot && (tables_.transmit & bit(slot)) == 0; });
    moved_ = !context_.datapath->is_guest() && (is_lost || context_.journal.now().active != decision_.active);
    return tables_;
}

void Reconciler::run() {
    // The device was removed during this pass: the next pass ends the team.
    if (context_.team() == nullptr) return;
    if (context_.datapath->kernel_manages_ports()) {
        await_mtu();
        if (context_.team() != nullptr) await_address();
    }
    if (context_.team() == nullptr) return; // removed meanwhile
    const auto team = team_before_loss();
    follow_address(team);
    if (started_ != context_.config().runner.index()) start_runner(); // a bond of others has another mode
    decide();
    auto next = plan(team);
    const auto before = std::exchange(drained_, next.drained);
    subsystems_.balancing->hold(tables_, next.tables, /*by_drain=*/drained_ != before);
    apply(next);
}

void Reconciler::reconfigure(const RunnerConfig& before) {
    note_carrier();
    const auto& now = context_.config().runner;
    auto* system = lacp();
    if (const auto* config = std::get_if<LacpRunner>(&now); config != nullptr && system != nullptr)
        return system->change(lacp_settings(*config, runner_start()));
    if (now.index() == before.index()) return; // the others have no settings
    if (system != nullptr) leave_lacp();
    start_runner();
}

/// The partners get a last LACPDU now, because no pass will send it.
void Reconciler::leave_lacp() {
    lacp()->update({}, Clock::now());
    subsystems_.lacp_frames->send_due();
    subsystems_.lacp_frames->forget_others({}); // nobody reads what the partners send from now on
    for (auto& port : context_.journal.edit().ports)
        port.lacp = {};
}

/// Without a configured one the address identifies the team to its LACP partners, as with teamd and bonding.
MacAddress Reconciler::lacp_system(const Link& team) const {
    const auto* config = std::get_if<LacpRunner>(&context_.config().runner);
    return config != nullptr && config->system ? *config->system : team.address;
}

/// With another LACP system the ports negotiate again.
void Reconciler::follow_address(const Link& team) {
    const auto wanted = lacp_system(team);
    if (lacp() == nullptr || context_.journal.now().lacp_system == wanted) return;
    context_.journal.edit().lacp_system = wanted;
    if (!ports_.all().empty())
        context_.log(Level::notice,
                     fmt::format("the LACP system is {} now{}; the ports negotiate again", text_of(wanted),
                                 wanted == team.address ? fmt::format(", the address of {}", context_.name())
                                                        : std::string()));
    reconfigure(context_.config().runner);
}

/// Once the team's carrier is set, the driver leaves it to us for good (team_core.c: user_carrier_enabled).
void Reconciler::note_carrier() {
    auto& journal = context_.journal.edit();
    journal.sets_carrier |= withholds_carrier(context_.config()) || journal.lacp_system.has_value();
}

/// The journal keeps the address that identifies the team to its LACP partners: a daemon that adopts the team
/// begins with it.
void Reconciler::start_runner() {
    note_carrier();
    auto& system = context_.journal.edit().lacp_system;
    if (context_.runs_lacp() && !system) system = lacp_system(*context_.team());
    // Which ports of a bond have a partner bonding says (Link::bond_backup).
    const bool by_bonding = context_.datapath->is_bond() && !context_.is_activebackup();
    runner_ = by_bonding ? Runner(AllPorts{}) : make_runner(context_.config().runner, runner_start());
    started_ = context_.config().runner.index();
}

RunnerStart Reconciler::runner_start() const {
    const auto& journal = context_.journal.now();
    RunnerStart start{.active = journal.active,
                      .active_by_hand = journal.active_by_hand,
                      .system = journal.lacp_system.value_or(MacAddress{}),
                      .can_only_receive = context_.datapath->can_only_receive(),
                      .lacp_memory = {}};
    if (context_.datapath->is_bond() && context_.team()->bond_active) {
        start.active_by_hand = start.active_by_hand && start.active == context_.team()->bond_active;
        start.active = context_.team()->bond_active;
    }
    for (const auto& port : journal.ports) {
        const auto* link = context_.link(port.index);
        // A link that was lost meanwhile begins anew.
        if (link != nullptr && port.state == PortState::joined && port.carrier_losses == link->carrier_losses)
            start.lacp_memory.insert_or_assign(port.index, port.lacp);
    }
    return start;
}

void Reconciler::decide() {
    auto candidates = ports_.candidates();
    // A team that is down does not aggregate, so that no partner sends to it.
    if (context_.runs_lacp() && !context_.team()->is_up())
        for (auto& candidate : candidates)
            candidate.up = false;
    if (!context_.datapath->is_bond() || !context_.is_activebackup()) {
        decision_ = step(runner_, candidates, Clock::now());
        if (context_.datapath->is_bond()) // all others receive, also if their link watch is down
            std::erase_if(decision_.receive, [this](IfIndex port) {
                const auto* link = context_.link(port);
                return link == nullptr || link->bond_backup;
            });
        return;
    }
    // What the runner has chosen is true when bonding has made it active (BondFollower::settle).
    const auto wanted = context_.chooses_active() ? step(runner_, candidates, Clock::now()) : Decision{};
    const auto& bond = *context_.team();
    const bool is_chosen =
        context_.chooses_active() && !bond.is_up(); // bonding chooses nothing while it is down
    decision_ = is_chosen ? wanted : chosen_by_bonding(context_.links(), bond, candidates, wanted);
    chosen_ = wanted.active;
}

lacp::System* Reconciler::lacp() {
    auto* runner = std::get_if<Lacp>(&runner_);
    return runner == nullptr ? nullptr : &runner->system();
}

/// The kernel's drivers change the MTU of the ports before that of the team. The plan must not set it back
/// meanwhile: a new reading waits until the change is complete. One reading for each difference.
void Reconciler::await_mtu() {
    std::map<IfIndex, std::uint32_t> different;
    for (const auto& port : ports_.all())
        if (const auto* link = context_.link(port.index);
            link != nullptr && link->mtu != context_.team()->mtu)
            different.emplace(port.index, link->mtu);
    const bool is_new = !different.empty() && different != different_mtus_;
    different_mtus_ = std::move(different);
    if (is_new) static_cast<void>(context_.observer->refresh());
}

/// A bond whose last port is deleted gets its new address before the port's RTM_DELLINK: only a reading of
/// all devices shows both.
void Reconciler::await_address() {
    // That of a bond of others is not set back.
    if (!context_.datapath->is_guest() && context_.device.kind == bond_kind && context_.bond_address &&
        context_.team()->address != *context_.bond_address)
        static_cast<void>(context_.observer->refresh());
}

/// The team's device as the plan should see it: a bond without ports with the address it had.
Link Reconciler::team_before_loss() {
    auto team = *context_.team();
    if (context_.device.kind != bond_kind || context_.datapath->is_guest()) return team;
    const bool has_slaves = std::ranges::any_of(ports_.all(), [this](const TeamPort& port) {
        const auto* link = context_.link(port.index);
        return link != nullptr && link->master == context_.device.team;
    });
    auto& address = context_.bond_address;
    // What /sys does not show here is taken for the kernel's own choice.
    const bool is_set = address && team.address != *address && !has_random_address(team).value_or(true);
    if (has_slaves || is_set)
        address = team.address;
    else if (address)
        team.address = *address;
    return team;
}

Member Reconciler::member(const TeamPort& port, const Link& team) const {
    const auto* was = context_.journal.port(port.index);
    const auto* link = context_.link(port.index);
    const bool watch_agrees = link == nullptr || link->has_link() == port.watch.up();
    const auto& features = subsystems_.offloads->features(port.index);
    return {.index = port.index,
            .slot = port.slot,
            .own_address = was == nullptr ? team.address : was->address,
            .filters_tags = filters_tags(features),
            .settings = {.prio = port.config.prio,
                         .queue_id = port.config.queue_id.value_or(0),
                         .user_linkup = watch_agrees ? std::nullopt : std::optional(port.watch.up()),
                         .lacp_prio = port.config.lacp_prio},
            .gso_max = link == nullptr ? SegmentLimits{} : link->gso_max,
            .segments = features.active.contains(tso),
            .to_set_up = was != nullptr && was->taken_down,
            .weight = port.config.weight.value_or(1),
            .drained = ports_.is_drained(port),
            .waits = ports_.waits(port),
            .carrier_losses = port.watch.carrier_losses()};
}

bool Reconciler::watches_any(bool (*wanted)(const LinkWatch&)) const {
    return std::ranges::any_of(ports_.all(), [wanted](const TeamPort& port) {
        return std::ranges::any_of(port.watch.watches(), wanted);
    });
}

/// An arp_ping watch expects answers with a tag.
bool Reconciler::probes_tags() const {
    return watches_any([](const LinkWatch& watch) {
        const auto* arp = std::get_if<ArpPingWatch>(&watch);
        return arp != nullptr && arp->vlanid.value_or(0) != 0;
    });
}

/// TIPC's bearers are the ports, not the team.
bool Reconciler::watches_tipc() const {
    return watches_any([](const LinkWatch& watch) { return std::holds_alternative<TipcWatch>(watch); });
}

TeamPlan Reconciler::plan(const Link& team) const {
    const auto& config = context_.config();
    PlanInput input{.runner = &config.runner,
                    .team = &team,
                    .members = {},
                    .owners = context_.journal.now().owners,
                    .limited_to = changes_.limited_to(),
                    .kernel_manages_ports = context_.datapath->kernel_manages_ports(),
                    .is_guest = context_.datapath->is_guest(),
                    // The carrier of a bond is bonding's (min_links).
                    .min_ports = context_.datapath->is_bond() ? std::uint16_t{1} : context_.min_ports(),
                    .sets_carrier = context_.datapath->sets_carrier() && context_.journal.now().sets_carrier,
                    .carrier_set = changes_.carrier_set()};
    for (std::uint8_t slot = 1; slot <= max_ports; ++slot)
        if (tables_.ports[slot]) input.known |= bit(Slot{slot}) & ~drained_;
    for (const auto& port : ports_.all())
        if (const auto* was = context_.journal.port(port.index);
            was != nullptr && was->weight != port.config.weight.value_or(1))
            input.known &= static_cast<SlotSet>(~bit(port.slot));
    input.measured = config.balance.on;
    input.tables.inner = context_.device.inner;
    input.tables.leaving = subsystems_.balancing->leaving();
    input.tables.drain = subsystems_.balancing->drains();
    if (watches_tipc()) input.tables.port_protocol = ETH_P_TIPC;
    input.tables.notify_peers = config.notify_peers;
    input.tables.mcast_rejoin = config.mcast_rejoin;
    if (has(hash_fields_of(config.runner), HashField::cpu))
        input.tables.cpu_slots = subsystems_.port_cpus->slots(ports_.cpu_ports());
    input.tags = takes_tags(context_.links(), team, uppers_.all()) || probes_tags();
    input.other_addresses = takes_other_addresses(uppers_.unicast_list(), team);
    for (const auto& port : ports_.all())
        input.members.push_back(member(port, team));
    auto plan = make_plan(input, decision_);
    // Where bonding chooses the slaves there are no buckets to balance.
    if (context_.datapath->is_bond() && !context_.datapath->link_sight().sees)
        plan.tables.mode = TransmitMode::activebackup;
    return plan;
}

/// Until the switches have learned of a change, they send to the old port: keep receiving on it.
Tables Reconciler::receiving_as_before(Tables tables) const {
    for (std::uint8_t slot = 1; slot <= max_ports; ++slot)
        if (tables.ports[slot] == tables_.ports[slot]) tables.receive |= tables_.receive & bit(Slot{slot});
    return tables;
}

void Reconciler::apply(const TeamPlan& plan) {
    // First, before any log line: this write takes a lost port out of use. A failure is reported below.
    static_cast<void>(context_.datapath->apply(receiving_as_before(plan.tables)));
    if (plan.tables != tables_ && context_.log.traces()) log_decision(plan.tables);
    log_changes();
    log_withheld(plan);
    const bool had_link = context_.team()->has_link();
    changes_.apply(changes(context_.links(), plan), ports_.all()); // the team may be removed meanwhile
    announce_news(plan, had_link);
    note_tables(context_.datapath->apply(plan.tables));
    const bool carrying_changed =
        tables_.transmit != plan.tables.transmit || tables_.ports != plan.tables.ports;
    tables_ = plan.tables;
    context_.journal.edit().owners = plan.owners;
    context_.journal.edit().leaving = plan.tables.leaving;
    for (const auto& port : ports_.all())
        if (auto* entry = context_.journal.port(port.index)) entry->weight = port.config.weight.value_or(1);
    const auto* backup = std::get_if<ActiveBackup>(&runner_);
    context_.journal.edit().active = decision_.active;
    context_.journal.edit().active_by_hand = backup != nullptr && backup->is_by_hand();
    if (const auto* system = lacp())
        for (auto& port : context_.journal.edit().ports)
            port.lacp = system->memory(port.index);
    if (carrying_changed && context_.changed) context_.changed();
}

void Reconciler::log_decision(const Tables& next) const {
    for (const auto& port : ports_.candidates()) {
        const auto known = std::ranges::find(ports_.all(), port.port, &TeamPort::index);
        if (known == ports_.all().end()) continue;
        const auto slot = bit(known->slot);
        context_.log(Level::debug,
                     fmt::format("decided: {}: link {}, prio {}, {} Mbit/s{}{}: slot {} {}, {}", known->name,
                                 port.up ? "up" : "down", port.prio, port.speed,
                                 port.sticky ? ", sticky" : "", port.last ? ", only if no other is up" : "",
                                 known->slot.value,
                                 (next.transmit & slot) != 0 ? "transmits" : "does not transmit",
                                 (next.receive & slot) != 0 ? "receives" : "does not receive"));
    }
}

/// Why the active port is not the first of equal ones; empty: it is.
std::string Reconciler::choice_text() const {
    const auto& choice = decision_.choice;
    if (!choice || choice->chosen != decision_.active) return {};
    const auto* before = context_.link(choice->before);
    return fmt::format(": chosen instead of {}, which shares the {} of the lost port",
                       before == nullptr ? "the next one" : before->name, name_of(choice->part));
}

void Reconciler::log_changes() const {
    if (decision_.active && decision_.active != context_.journal.now().active)
        for (const auto& port : ports_.all())
            if (port.index == *decision_.active)
                context_.log(Level::notice, fmt::format("active port {}{}", port.name, choice_text()),
                             message_id::active_changed, {{"PORT", port.name}});
    for (const auto& port : ports_.all()) {
        const bool now = std::ranges::find(decision_.transmit, port.index) != decision_.transmit.end();
        const bool was =
            tables_.ports[port.slot.value] == port.index && (tables_.transmit & bit(port.slot)) != 0;
        if (now == was) continue;
        const auto* link = context_.link(port.index);
        const auto reason = now ? "carries"
                            : link == nullptr || !port.watch.has_link()
                                ? "lost its link and no longer carries"
                            : ports_.is_drained(port) ? "is drained and no longer carries"
                            : port.watch.up()         ? "no longer carries"
                                                      : "gets no answer (link watch) and no longer carries";
        context_.log.port(
            now || ports_.is_drained(port) ? Level::notice : Level::warning, port.name,
            fmt::format(" {}; {} of {} ports carry", reason, decision_.transmit.size(), ports_.all().size()),
            now ? message_id::port_back : message_id::port_lost);
    }
}

void Reconciler::log_withheld(const TeamPlan& plan) {
    if (decision_.transmit.empty()) return;
    if (plan.carrier) {
        if (!withheld_.text().empty()) context_.log(Level::notice, "the team has a carrier again");
        return withheld_.clear();
    }
    withheld_(context_.log, Level::warning, "",
              fmt::format("the team has no carrier: fewer ports can carry than runner.min_ports, which is {}",
                          context_.min_ports()));
}

/// A failure is logged once, and tried again by a later pass.
void Reconciler::note_tables(const Result<>& applied) {
    failure_(context_.log, Level::error, "cannot update the datapath: ", applied);
    await_passing(patience_, !applied, Clock::now());
}

Result<> Reconciler::choose_active(IfIndex port) {
    auto* backup = std::get_if<ActiveBackup>(&runner_);
    if (backup == nullptr) return fail(EOPNOTSUPP, "this runner has no active port");
    if (!backup->choose(port, ports_.candidates())) return fail(ENETDOWN, "its link is down");
    return {};
}

std::optional<Clock::time_point> Reconciler::deadline() const {
    return patience_ ? earlier(changes_.deadline(), patience_->next()) : changes_.deadline();
}

std::vector<std::string> Reconciler::refused() const {
    auto list = changes_.refused();
    if (!failure_.text().empty()) list.push_back(failure_.text());
    return list;
}

} // namespace teamo
