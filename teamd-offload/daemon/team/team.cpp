// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/team/team.h"

#include "control/state_document.h"
#include "daemon/team/ignored_settings.h"
#include "kernel/files/files.h"
#include "model/observation.h"
#include "plan/team/membership.h"

#include <sys/epoll.h>

#include <thread>

namespace teamo {

/// How often changes are polled that the kernel does not report: addresses above the team, settings of ports.
/// A port may miss them as long as linkwatch may delay the report of a carrier.
constexpr std::chrono::seconds unreported_interval{1};
constexpr unsigned slow_polls = 5; ///< of those, each that many reads also what may wait

/// How long a stop tries to restore what was refused.
constexpr std::chrono::seconds restore_patience{2};

Result<> Subsystems::make(TeamContext& context, std::function<lacp::System*()> lacp) {
    carrier_monitor = TEAMO_TRY(CarrierMonitor::make(context));
    announcer = TEAMO_TRY(Announcer::make(context));
    failure_domains = TEAMO_TRY(FailureDomains::make(context));
    guard = std::make_unique<Guard>(context);
    program_watch = TEAMO_TRY(ProgramWatch::make(context));
    lacp_frames = TEAMO_TRY(LacpFrames::make(context, std::move(lacp)));
    probes = TEAMO_TRY(Probes::make(context));
    losses = TEAMO_TRY(Losses::make(context));
    drains = TEAMO_TRY(Drains::make(context));
    offloads = TEAMO_TRY(Offloads::make(context));
    interrupts = TEAMO_TRY(Interrupts::make(context));
    port_cpus = TEAMO_TRY(PortCpus::make(context, *interrupts));
    balancing = TEAMO_TRY(Balancing::make(context, *port_cpus));
    workers = TEAMO_TRY(Workers::make(context, *interrupts));
    return {};
}

Result<std::unique_ptr<Team>> Team::start(Configuration configuration, Options options, Log& log,
                                          sd_event* loop, ProcessParts& shared, std::function<void()> changed,
                                          std::function<void(Error)> failed) {
    shared.devices->catch_up();
    const auto& links = shared.devices->links();
    const auto& config = configuration.team;
    const auto* existing = options.force_recreate ? nullptr : find_team(links, config.device);
    if (is_lacp(config.runner) && existing != nullptr) continue_lacp(config.device, links, shared.frames);
    auto programs = TEAMO_TRY(DevicePrograms::open(shared.program_names));
    auto [datapath, refusal] =
        TEAMO_TRY(open_datapath(config.datapath, shared.control, existing, config, *programs));
    if (!refusal.empty())
        log(Level::warning, fmt::format("the team cannot be a bond, and uses the datapath {}: {}",
                                        datapath->name(), refusal));
    for (const auto& sentence : ignored_by_datapath(*datapath, config))
        log(Level::warning, sentence);
    std::unique_ptr<Team> team(new Team({.configuration = std::move(configuration),
                                         .options = std::move(options),
                                         .log = log,
                                         .loop = loop,
                                         .shared = shared,
                                         .changed = std::move(changed),
                                         .programs = std::move(programs),
                                         .datapath = std::move(datapath)},
                                        std::move(failed)));
    if (auto opened = team->open(); !opened) {
        team->abandon();
        return tl::unexpected(opened.error());
    }
    return team;
}

Result<> Team::open() {
    auto* loop = context.loop;
    context.observer = TEAMO_TRY(Observer::make(*context.shared.devices, context.log, [this] { pass(); }));
    pass_soon_ = TEAMO_TRY(Deferred::make(loop, Priority::link, [this] { pass(); }));
    timer_ = TEAMO_TRY(Timer::make(loop, [this] { pass(); }));
    poll_timer_ = TEAMO_TRY(Timer::make(loop, [this] { poll_unreported(); }));
    context.request_pass = [this] { pass_soon_->soon(); };
    TEAMO_TRY(subsystems.make(context, [this] { return reconciler.lacp(); }));
    context.programs->set_note_clsact([this](IfIndex device) { return ports.entries().note_clsact(device); });
    context.programs->set_is_of_another(
        [this](IfIndex device) { return ports.entries().is_of_another_team(device); });
    if (context.config().attach) {
        TEAMO_TRY(attach_to_bond());
    } else {
        const auto existing = TEAMO_TRY(find_device());
        TEAMO_TRY(existing ? adopt_device(*existing) : make_device());
        ports.join_configured();
    }
    pass();
    subsystems.balancing->start();
    subsystems.workers->start();
    poll_unreported();
    if (const auto fd = context.datapath->event_fd()) {
        // After the links' own events: the driver reports a lost link too, but takes longer to read.
        datapath_events_ = TEAMO_TRY(Io::make(loop, *fd, EPOLLIN, Priority::timer, [this](std::uint32_t) {
            if (auto taken = context.datapath->take_events(); !taken)
                context.log(Level::error, taken.error().text);
            pass_soon_->soon();
        }));
    }
    context.observer->listen();
    return {};
}

/// The device of an earlier daemon, to be adopted. None: a new device can be made, leftovers are cleared.
Result<std::optional<TeamDevice>> Team::find_device() {
    TEAMO_TRY(check_free(context.links(), context.name()));
    if (context.options.force_recreate) TEAMO_TRY(remove_existing());
    TEAMO_TRY(remove_half_made());
    auto existing = context.datapath->find_device(context.links(), context.name(), context.options.take_over);
    if (!existing || *existing) return existing;
    TEAMO_TRY(ports.clear_leftovers());
    return existing;
}

/// -r: removes any device with the team's name. If it was a team of ours, restores its ports.
Result<> Team::remove_existing() {
    const auto& links = context.links();
    const auto* named = find_team(links, context.name());
    if (named == nullptr) named = find_altname(links, inner_mark(context.name())); // the team is elsewhere
    if (named == nullptr) return {};
    const bool ours = team_of_device(*named) == context.name();
    if (auto removed = context.control.remove(named->index); !removed)
        return within(fmt::format("device {} cannot be replaced", context.name()),
                      std::move(removed.error()));
    context.observer->catch_up();
    return ours ? ports.clear_leftovers() : Result<>();
}

/// Removes a device that an earlier daemon was making when it was killed, so that it is made again.
Result<> Team::remove_half_made() {
    const auto journal = read_journal(context.name()).value_or(std::nullopt);
    const bool noted = journal && journal->making;
    if (!is_half_made(context.links(), context.name(), noted)) return {};
    const auto* device = find_link(context.links(), context.name());
    context.log(
        Level::notice,
        fmt::format("device {} was not completed by an earlier daemon; making it again", context.name()));
    if (auto removed = context.control.remove(device->index); !removed)
        return within(fmt::format("device {} cannot be removed", context.name()), std::move(removed.error()));
    return context.observer->refresh();
}

Result<> Team::make_device() {
    const auto& config = context.config();
    auto& journal = context.journal;
    MacAddress address = config.hwaddr.value_or(MacAddress{});
    // Without a configured address the team has that of its first port, as with the kernel's driver.
    if (!context.options.no_ports)
        for (const auto& [name, port] : config.ports)
            if (const auto* link = context.link(name); link != nullptr && address.is_zero())
                address = link->address;
    if (!has_address_of_active(config)) journal.edit().hwaddr = config.hwaddr;
    journal.edit().making = true; // identifies the device if we are killed before it has its mark
    TEAMO_TRY(journal.keep());
    const auto device = context.datapath->create_device(context.control, context.name(), address);
    if (!device) {
        if (journal.now().ports.empty()) journal.remove_file();
        return tl::unexpected(device.error());
    }
    context.device = *device;
    made_device_ = true;
    journal.edit().making = false;
    for (const auto made : {device->team, device->inner})
        if (made) static_cast<void>(context.observer->read_now(made));
    if (context.team() == nullptr)
        return fail(ENODEV, fmt::format("device {} was removed while it was being made", context.name()));
    note_device({});
    // Before ports join: the driver's carrier follows their links.
    if (withholds_carrier(config) && context.datapath->sets_carrier())
        TEAMO_TRY(context.control.set_carrier(device->team, false));
    bond.begin();
    bond.observe();
    const auto tables = reconciler.begin();
    TEAMO_TRY(journal.keep());
    return context.datapath->attach_team(context.device, tables);
}

/// `kept`: offloads that an earlier daemon found on the device; empty: none did.
void Team::note_device(const FeatureNames& kept) {
    const auto& device = context.device;
    subsystems.offloads->add_team(*context.team(), context.config().offload, kept);
    auto& journal = context.journal.edit();
    journal.team = device.team;
    journal.inner = device.inner;
    journal.offloads = subsystems.offloads->kept(device.team);
}

/// Continues the team of a daemon that was killed, without taking any link down: our programs replace the
/// running ones when their maps have the same content.
Result<> Team::adopt_device(const TeamDevice& device) {
    context.device = device;
    auto journal = TEAMO_TRY(context.journal.read());
    if (journal) context.journal.adopt(std::move(*journal));
    auto& now = context.journal.edit();
    now.making = false;
    note_device(now.offloads);
    ports.adopt(std::exchange(now.ports, {}));
    subsystems.offloads->end_leftover_trials(now.ports); // before the features are read
    ports.adopt_offloads();
    // A hash by CPU needs to know where the interrupts arrive.
    subsystems.interrupts->follow(ports.interrupt_ports(now.active));
    bond.begin();
    bond.note_lacp();
    bond.observe();
    const auto& tables = reconciler.adopt();
    subsystems.lacp_frames->listen(lacp_ports()); // before the programs are loaded, which takes a while
    TEAMO_TRY(context.datapath->attach_team(device, tables));
    for (const auto& port : ports.all())
        // The other ports carry; the first pass removes a port whose device is gone.
        if (auto attached = ports.attach_adopted(port.index); !attached)
            ports.note_unattached(port, attached.error());
    context.log(Level::notice, fmt::format("adopted the running team with {} ports", ports.all().size()),
                message_id::adopted);
    set_hwaddr(context);
    ports.finish_begun();
    return {};
}

/// The bond of that name; or, if an earlier daemon was killed and its bond has another name now or is gone,
/// that one: what it was like must come back, so the first pass ends the team as it ends a running one.
Result<TeamDevice> Team::find_bond(const std::optional<Journal>& journal) {
    auto named = context.datapath->find_device(context.links(), context.name(), false);
    const bool has_name = named && *named;
    if (context.options.ends_former && journal && journal->attached &&
        !(has_name && (*named)->team == journal->team)) {
        const auto* former = context.link(journal->team);
        const bool is_renamed = former != nullptr && former->kind == bond_kind && !team_of_device(*former);
        if (is_renamed || (former == nullptr && !has_name))
            return TeamDevice{.team = journal->team, .inner = {}, .kind = bond_kind};
    }
    if (!TEAMO_TRY(named)) return fail(ENODEV, fmt::format("there is no bond {}", context.name()));
    return **named;
}

/// As a guest of a bond that another program made. Its slaves are the ports; an earlier daemon's programs, if
/// it was killed, carry until those of this one are there.
Result<> Team::attach_to_bond() {
    context.options.no_ports = true; // the bond's owner decides which
    auto journal = TEAMO_TRY(context.journal.read());
    const auto device = TEAMO_TRY(find_bond(journal));
    context.device = device;
    const bool is_known = journal.has_value();
    if (journal &&
        journal->team != device.team) { // it was made again: only what its slaves were like is true
        journal->bond_policy.reset();
        journal->active.reset();
        journal->active_by_hand = false;
        journal->owners = {};
        journal->offloads.clear();
    }
    if (journal) context.journal.adopt(std::move(*journal));
    context.journal.edit().attached = true;
    if (context.team() == nullptr) {
        ports.join_slaves(); // none is one any more
        return {};
    }
    note_device(context.journal.now().offloads);
    bond.begin();
    ports.join_slaves();
    subsystems.interrupts->follow(ports.interrupt_ports(std::nullopt));
    bond.observe();
    if (context.team() == nullptr) return {}; // the first pass sees it, and what is changed is put back
    // The next pass tries again; until then bonding chooses the slaves.
    if (auto attached = context.datapath->attach_team(context.device, reconciler.adopt()); !attached)
        context.log(Level::error, fmt::format("cannot update the datapath: {}", attached.error().text));
    made_device_ = !is_known; // a failed start leaves what an earlier daemon has attached
    const bool is_damped =
        std::ranges::any_of(ports.all(), [](const TeamPort& port) { return port.damping.has_value(); });
    if (is_damped && context.is_activebackup() && !context.chooses_active())
        context.log(Level::warning, "damping of link watches has no effect, because bonding chooses the "
                                    "active slave; \"runner\": {\"name\": \"activebackup\"} lets the daemon "
                                    "choose");
    const auto now = bond.status();
    context.log(Level::notice, fmt::format("attached to {}: mode {}, xmit_hash_policy {}, {} slaves",
                                           context.name(), now->mode, now->own_policy, ports.all().size()));
    return {};
}

/// Observe, decide, plan, apply: after every batch of events, and at deadlines. Does nothing if nothing has
/// changed. A port that lost its link or its device is removed from the tables before anything slower begins.
void Team::pass() {
    const auto events = context.observer->events_taken();
    if (!update_ports()) return;
    subsystems.lacp_frames->listen(lacp_ports());
    subsystems.lacp_frames->read_all();
    reconcile();
    subsystems.lacp_frames->send_due(); // also the last one of a port that is leaving
    bool changed = ports.update_membership();
    // Events that were read meanwhile: a device that has the index of a port now must not get its settings.
    if (context.observer->events_taken() != events && !update_ports()) return;
    changed = uppers.update() || changed;
    if (changed) ports.step_watches();
    changed = subsystems.offloads->step(Clock::now()) || changed;
    if (changed) reconcile();
    context.journal.save();
    const bool follows_others = context.observer->follow(interest());
    inform_subsystems();
    // Parts that ran before an event was read have not seen it: run the pass again.
    set_timer(follows_others || context.observer->events_taken() != events);
}

void Team::reconcile() {
    bond.observe();
    if (const auto chosen = bond.take_active_by_hand())
        static_cast<void>(reconciler.choose_active(*chosen)); // only a configured runner can
    reconciler.run();
    bond.settle(reconciler.chosen());
}

/// Updates the ports from the observer. False: the team's device is gone.
bool Team::update_ports() {
    if (context.team() == nullptr) {
        if (const auto failed = std::exchange(failed_, nullptr))
            failed(Error{ENODEV, fmt::format("device {} was {} by another program", context.name(),
                                             context.observer->read_now(context.device.inner)
                                                 ? "moved to another network namespace"
                                                 : "removed")});
        return false;
    }
    // A bond of others is attached by its name.
    if (context.datapath->is_guest() && !context.team()->has_name(context.name())) {
        if (const auto failed = std::exchange(failed_, nullptr))
            failed(Error{ENODEV, fmt::format("bond {} was renamed to {} by another program", context.name(),
                                             context.team()->name)});
        return false;
    }
    ports.drop_lost();
    ports.step_watches();
    return true;
}

std::vector<LacpFrames::Port> Team::lacp_ports() {
    std::vector<LacpFrames::Port> list;
    for (const auto& port : ports.all()) {
        const auto* before = context.journal.port(port.index);
        list.push_back({.index = port.index,
                        .name = port.name,
                        .source = before == nullptr ? MacAddress{} : before->address});
    }
    return list;
}

/// Until the next pass.
Interest Team::interest() const {
    Interest interest{.all = context.config().guard != GuardMode::off, .team = context.name()};
    interest.devices = uppers.all();
    for (const auto device : {context.device.team, context.device.inner})
        interest.devices.insert(device);
    for (const auto& port : ports.all())
        interest.devices.insert(port.index);
    interest.names.insert(context.name());
    if (const auto* team = context.team()) interest.address = team->address;
    for (const auto& name : ports.wanted_names()) {
        interest.names.insert(name);
        const bool is_port = std::ranges::find(ports.all(), name, &TeamPort::key) != ports.all().end();
        if (is_port) continue; // no need to look through all devices, as each pass would
        if (const auto* link = context.link(name)) interest.devices.insert(link->index);
    }
    return interest;
}

void Team::inform_subsystems() {
    const auto& tables = reconciler.tables();
    std::set<IfIndex> followed;
    for (const auto& port : ports.all())
        followed.insert(port.index);
    subsystems.carrier_monitor->follow(followed);
    subsystems.failure_domains->follow(followed);
    subsystems.guard->follow(followed);
    subsystems.lacp_frames->listen(lacp_ports()); // of ports that have joined in this pass
    subsystems.lacp_frames->send_due();
    subsystems.lacp_frames->forget_others(lacp_ports());
    subsystems.probes->follow(ports.probed(tables));
    subsystems.losses->follow(ports.loss_ports(tables), tables);
    subsystems.drains->follow(ports.drain_ports(tables, reconciler.lacp()));
    subsystems.interrupts->follow(ports.interrupt_ports(reconciler.decision().active));
    const bool by_hash = tables.mode == TransmitMode::hash;
    subsystems.port_cpus->follow(by_hash ? ports.cpu_ports() : std::vector<PortCpus::Port>());
    subsystems.balancing->follow(ports.balanced_ports(tables, reconciler.drained()), tables);
}

void Team::set_timer(bool again) {
    std::optional<Clock::time_point> first;
    if (again) first = Clock::now();
    for (const auto& deadline : {ports.deadline(), reconciler.deadline(), bond.deadline(),
                                 subsystems.offloads->deadline(), context.journal.deadline()})
        first = earlier(first, deadline);
    if (first)
        timer_->at(*first);
    else
        timer_->stop();
}

void Team::poll_unreported() {
    const bool all = polls_++ % slow_polls == 0;
    // What follows changes ports, so they must be known as they are.
    const auto events = context.observer->events_taken();
    const bool was_stale = context.observer->is_stale();
    context.observer->catch_up();
    const bool stale = was_stale || context.observer->events_taken() != events;
    subsystems.losses->poll(subsystems.balancing->is_sending());
    ports.poll_guard();
    subsystems.program_watch->poll(all);
    const bool settings = all && ports.update_unreported();
    // The team driver sets the addresses of its ports itself.
    const bool addresses = !context.datapath->kernel_manages_ports() && uppers.update_addresses(all);
    const bool refused = ports.has_unattached() || subsystems.lacp_frames->has_refused();
    const bool found = ports.find_awaited();
    const bool free = ports.poll_refused();
    if (stale || settings || addresses || refused || found || free) pass_soon_->soon();
    // The guard drops what it does not know yet.
    const bool guards = context.config().guard != GuardMode::off;
    poll_timer_->about(guards ? unreported_interval : context.shared.pause(unreported_interval));
}

/// Events that are read here do not wake the loop any more, so the pass for them runs here.
control::Reply Team::answer(const control::Request& request) {
    context.observer->catch_up();
    // A request may add a device that has just returned: every part must have forgotten the former one.
    if (update_ports() && ports.has_returned()) pass();
    const auto make_reply = begin_request(*this, request);
    pass();
    return make_reply();
}

json::Value Team::state() { return control::state_document(status_of(*this)); }

void Team::abandon() {
    context.options.no_quit_destroy = false; // do not keep an incomplete team
    if (made_device_) stop();
}

void Team::stop() {
    context.observer->catch_up();
    if (context.team() != nullptr) ports.drop_lost(); // their devices may be those of others now
    subsystems.offloads->end_trial();                 // before its port is restored
    if (context.options.no_quit_destroy) {
        context.log(Level::info, "stopped; device and ports continue to run");
        return;
    }
    subsystems.workers->manage(false);
    bond.end();
    if (auto* system = reconciler.lacp(); system != nullptr && context.team() == nullptr) {
        system->update({}, Clock::now()); // the device is gone, so no pass sends the last LACPDUs
        subsystems.lacp_frames->send_due();
    }
    ports.begin_leaving_all();
    pass();
    const auto until = Clock::now() + restore_patience;
    const auto left = ports.await_leaving(until);
    if (!context.datapath->is_guest()) remove_device(until);
    subsystems.interrupts->end();
    if (left != 0)
        context.log(Level::warning,
                    fmt::format("{} ports are not restored; to try again, start and stop the team", left));
    const bool has_workers = !context.journal.workers().empty();
    if (has_workers)
        context.log(Level::warning, "not all workers are released; to try again, start and stop the team");
    const bool is_put_back = context.team() == nullptr || !context.journal.now().bond_policy;
    if (left == 0 && !has_workers && is_put_back) context.journal.remove_file();
}

void Team::remove_device(Clock::time_point until) {
    Patience patience;
    while (context.team() != nullptr) {
        const auto removed = context.control.remove(context.device.team);
        context.observer->catch_up();
        if (removed) return;
        patience.refused(Clock::now());
        if (!is_passing(removed.error()) || patience.next() > until)
            return context.log(Level::warning, fmt::format("device {} cannot be removed: {}", context.name(),
                                                           removed.error().text));
        std::this_thread::sleep_until(patience.next());
    }
}

} // namespace teamo
