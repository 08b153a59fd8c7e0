// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Start and stop of a team: makes its device, or adopts that of an earlier daemon; restores everything.
#include "team/ports/port_views.h"
#include "team/team.h"

#include "model/observation.h"
#include "plan/team/membership.h"
#include "unsupported.h"

#include <sys/epoll.h>

#include <thread>

namespace teamo {
namespace {

/// How long a stop tries to restore what was refused.
constexpr std::chrono::seconds restore_patience{2};

} // namespace

Result<std::unique_ptr<Team>> Team::start(Configuration configuration, TeamOptions options, Log& log,
                                          sd_event* loop, std::function<void(Error)> failed) {
    auto control = TEAMO_TRY(LinkControl::open());
    auto ethtool = TEAMO_TRY(Ethtool::open());
    auto links = TEAMO_TRY(control.read_all());
    const auto* existing = options.recreate ? nullptr : find_link(links, configuration.team.device);
    auto datapath =
        open_datapath(options.datapath, control, existing, hash_fields_of(configuration.team.runner));
    if (!datapath) return tl::unexpected(datapath.error());
    const bool by_bpf = (*datapath)->name() == "bpf";
    for (const auto& sentence :
         by_bpf ? ignored_by_bpf(configuration.team) : ignored_by_driver(configuration.team))
        log(Level::warning, sentence);
    std::unique_ptr<Team> team(new Team({.configuration = std::move(configuration),
                                         .options = std::move(options),
                                         .log = log,
                                         .control = std::move(control),
                                         .ethtool = std::move(ethtool),
                                         .datapath = std::move(*datapath)},
                                        std::move(failed)));
    if (auto opened = team->open(loop); !opened) {
        team->abandon();
        return tl::unexpected(opened.error());
    }
    return team;
}

Result<> Team::open(sd_event* loop) {
    auto& [context, subsystems, ports, uppers, reconciler] = parts_;
    auto observer = TEAMO_TRY(Observer::make(context.log, [this] { pass(); }));
    context.observer = std::move(observer);
    TEAMO_TRY(make_timers(loop));
    TEAMO_TRY(subsystems.make(loop, context, [this] { pass_soon_->soon(); }));
    const auto existing = TEAMO_TRY(find_device());
    TEAMO_TRY(existing ? adopt_device(*existing) : make_device());
    TEAMO_TRY(ports.join_configured(made_device_));
    pass();
    subsystems.balancing->start();
    subsystems.workers->start();
    poll_unreported();
    return listen(loop);
}

Result<> Team::make_timers(sd_event* loop) {
    auto soon = TEAMO_TRY(Deferred::make(loop, Priority::link, [this] { pass(); }));
    pass_soon_.emplace(std::move(soon));
    auto timer = TEAMO_TRY(Timer::make(loop, [this] { pass(); }));
    timer_.emplace(std::move(timer));
    auto poll_timer = TEAMO_TRY(Timer::make(loop, [this] { poll_unreported(); }));
    poll_timer_.emplace(std::move(poll_timer));
    return {};
}

/// The device of an earlier daemon, to be adopted. None: a new device can be made, leftovers are cleared.
Result<std::optional<TeamDevice>> Team::find_device() {
    auto& [context, subsystems, ports, uppers, reconciler] = parts_;
    if (context.options.recreate) {
        TEAMO_TRY(ports.check_configured());
        TEAMO_TRY(remove_existing());
    }
    TEAMO_TRY(remove_half_made());
    auto existing = context.datapath->find_device(context.links(), context.name(), context.options.take_over);
    if (!existing || *existing) return existing;
    TEAMO_TRY(ports.clear_leftovers());
    TEAMO_TRY(ports.check_configured());
    return existing;
}

/// -r: removes any device with the team's name. If it was a team of ours, restores its ports.
Result<> Team::remove_existing() {
    auto& context = parts_.context;
    const auto* named = find_link(context.links(), context.name());
    if (named == nullptr) return {};
    const bool ours = find_altname(context.links(), team_mark(context.name())) == named;
    if (auto removed = context.control.remove(named->index); !removed)
        return within(fmt::format("device {} cannot be replaced", context.name()),
                      std::move(removed.error()));
    context.observer->catch_up();
    return ours ? parts_.ports.clear_leftovers() : Result<>();
}

/// Removes a device that an earlier daemon was making when it was killed, so that it is made again.
Result<> Team::remove_half_made() {
    auto& context = parts_.context;
    const auto journal = read_journal(context.name());
    const bool noted = journal && *journal && (*journal)->making;
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
    auto& [context, subsystems, ports, uppers, reconciler] = parts_;
    const auto& config = context.config();
    auto& journal = context.journal;
    MacAddress address = config.hwaddr.value_or(MacAddress{});
    // Without a configured address the team has that of its first port, as with the kernel's driver.
    if (address.is_zero() && !context.options.without_ports)
        for (const auto& entry : config.ports)
            if (const auto* link = find_link(context.links(), entry.first);
                link != nullptr && address.is_zero())
                address = link->address;
    journal.set_making(true); // identifies the device if we are killed before it has its mark
    TEAMO_TRY(journal.keep());
    auto device = context.datapath->create_device(context.control, context.name(), address);
    if (!device) {
        if (journal.ports().empty()) journal.remove_file();
        return tl::unexpected(device.error());
    }
    context.device = std::move(*device);
    made_device_ = true;
    journal.set_making(false);
    TEAMO_TRY(context.observer->refresh());
    const auto* team = context.team();
    if (team == nullptr)
        return fail(ENODEV, fmt::format("device {} was removed while it was being made", context.name()));
    subsystems.offloads->add_team(*team, config.offload, {});
    journal.set_device(context.device.team, context.device.inner,
                       subsystems.offloads->kept(context.device.team));
    const auto tables = reconciler.begin();
    TEAMO_TRY(journal.keep());
    return context.datapath->attach_team(context.device, tables);
}

/// Continues the team of a daemon that was killed, without taking any link down: our programs replace the
/// running ones when their maps have the same content.
Result<> Team::adopt_device(const TeamDevice& device) {
    auto& [context, subsystems, ports, uppers, reconciler] = parts_;
    context.device = device;
    auto journal = TEAMO_TRY(context.journal.read());
    if (journal) context.journal.adopt(std::move(*journal));
    context.journal.set_making(false);
    subsystems.offloads->add_team(*context.team(), context.config().offload, context.journal.offloads());
    context.journal.set_device(device.team, device.inner, subsystems.offloads->kept(device.team));
    subsystems.trial->end_leftovers(context.journal.edit_ports()); // before the features are read
    ports.adopt(std::exchange(context.journal.edit_ports(), {}));
    ports.adopt_offloads();
    // A hash by CPU needs to know where the interrupts arrive.
    subsystems.interrupts->follow(interrupt_ports(context, ports, context.journal.active()));
    TEAMO_TRY(context.datapath->attach_team(device, reconciler.adopt()));
    for (const auto& port : ports.all())
        if (auto attached = context.datapath->attach_port(port.index); !attached) {
            // The other ports carry; the first pass removes a port whose device is gone.
            if (is_passing(attached.error()))
                return within(fmt::format("port {}", port.name), std::move(attached.error()));
            context.log(Level::error, fmt::format("port {}: {}", port.name, attached.error().text));
        }
    context.log(Level::notice, fmt::format("adopted the running team with {} ports", ports.all().size()),
                message_id::adopted);
    ports.finish_begun();
    return {};
}

Result<> Team::listen(sd_event* loop) {
    auto& context = parts_.context;
    if (const auto fd = context.datapath->event_fd()) {
        // After the links' own events: the driver reports a lost link too, and its events take longer to
        // read.
        auto io = Io::make(loop, *fd, EPOLLIN, Priority::timer, [this](std::uint32_t) {
            auto& with = parts_.context;
            if (auto taken = with.datapath->take_events(); !taken) with.log(Level::error, taken.error().text);
            pass_soon_->soon();
        });
        if (!io) return tl::unexpected(io.error());
        datapath_events_.emplace(std::move(*io));
    }
    return context.observer->listen(loop);
}

void Team::abandon() {
    parts_.context.options.keep_on_stop = false; // do not keep an incomplete team
    if (made_device_) stop();
}

void Team::stop() {
    auto& [context, subsystems, ports, uppers, reconciler] = parts_;
    context.observer->catch_up();
    subsystems.trial->end(); // before its port is restored
    if (context.options.keep_on_stop) {
        context.log(Level::info, "stopped; device and ports continue to run");
        return;
    }
    subsystems.workers->manage(false);
    ports.begin_leaving_all();
    pass();
    const auto until = Clock::now() + restore_patience;
    const auto left = ports.await_leaving(until);
    remove_device(until);
    subsystems.interrupts->end();
    if (left == 0)
        context.journal.remove_file();
    else
        context.log(Level::warning,
                    fmt::format("{} ports are not restored; to try again, start and stop the team", left));
}

void Team::remove_device(Clock::time_point until) {
    auto& context = parts_.context;
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
