// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How a team begins and ends: the device made or adopted, and everything put back.
#include "team.h"

#include "model/marks.h"
#include "plan/membership.h"
#include "port_device.h"
#include "support.h"

#include <sys/epoll.h>

#include <algorithm>

namespace teamo {

Team::Team(Configuration configuration, TeamOptions options, Log& log, LinkControl control, Ethtool ethtool,
           std::unique_ptr<Datapath> datapath)
    : configuration_(std::move(configuration)),
      options_(std::move(options)),
      log_(log),
      control_(std::move(control)),
      ethtool_(std::move(ethtool)),
      datapath_(std::move(datapath)) {
    journal_.network_namespace = network_namespace();
}

Result<std::unique_ptr<Team>> Team::start(Configuration configuration, TeamOptions options, Log& log,
                                          sd_event* loop, std::function<void(Error)> failed) {
    auto control = LinkControl::open();
    if (!control) return tl::unexpected(control.error());
    auto ethtool = Ethtool::open();
    if (!ethtool) return tl::unexpected(ethtool.error());
    auto links = control->read_all();
    if (!links) return tl::unexpected(links.error());
    const auto* existing = options.recreate ? nullptr : find_link(*links, configuration.team.device);
    auto datapath =
        open_datapath(options.datapath, *control, existing, hash_fields_of(configuration.team.runner));
    if (!datapath) return tl::unexpected(datapath.error());

    std::unique_ptr<Team> team(new Team(std::move(configuration), std::move(options), log,
                                        std::move(*control), std::move(*ethtool), std::move(*datapath)));
    team->failed_ = std::move(failed);
    const bool by_bpf = team->datapath_->name() == "bpf";
    for (const auto& sentence :
         by_bpf ? unheeded_by_bpf(team->configuration_.team) : unheeded_by_driver(team->configuration_.team))
        log(Level::warning, sentence);
    if (auto opened = team->open(loop); !opened) {
        team->abandon();
        return tl::unexpected(opened.error());
    }
    return team;
}

Result<> Team::open(sd_event* loop) {
    auto observer = Observer::make(log_, [this] { pass(); });
    if (!observer) return tl::unexpected(observer.error());
    observer_ = std::move(*observer);
    auto carrier_news = CarrierNews::make(loop, log_, *observer_);
    if (!carrier_news) return tl::unexpected(carrier_news.error());
    carrier_news_ = std::move(*carrier_news);
    auto announcer = Announcer::make(loop, log_, [this]() -> const Links& { return observer_->links(); });
    if (!announcer) return tl::unexpected(announcer.error());
    announcer_ = std::move(*announcer);
    auto timer = Timer::make(loop, [this] { pass(); });
    if (!timer) return tl::unexpected(timer.error());
    timer_.emplace(std::move(*timer));
    auto look_again_timer = Timer::make(loop, [this] { look_again(); });
    if (!look_again_timer) return tl::unexpected(look_again_timer.error());
    look_again_timer_.emplace(std::move(*look_again_timer));

    // Before the ports are looked at: an earlier daemon may have left one without its TSO.
    auto trial = OffloadTrial::make(loop, log_, ethtool_, name());
    if (!trial) return tl::unexpected(trial.error());
    trial_ = std::move(*trial);
    if (auto started = start_balancing(loop); !started) return started;
    if (auto started = start_offloads(loop); !started) return started;
    if (auto started = start_interrupts(loop); !started) return started;
    if (auto started = start_workers(loop); !started) return started;
    if (auto started = start_proof_trial(loop); !started) return started;
    if (auto good = check_ports(); !good) return good;
    if (options_.recreate)
        if (auto replaced = remove_existing(); !replaced) return replaced;
    const auto existing = datapath_->find_device(observer_->links(), name(), options_.take_over);
    if (!existing) return tl::unexpected(existing.error());
    if (!*existing) clear_leftovers();
    if (auto made = *existing ? adopt_device(**existing) : make_device(); !made) return made;
    if (auto joined = join_configured(); !joined) return joined;
    pass();
    balancing_->start();
    release_left_workers();
    workers_->start();
    look_again();
    return listen(loop);
}

Result<> Team::listen(sd_event* loop) {
    if (const auto fd = datapath_->event_fd()) {
        // Behind the links' own events: the driver's tell of a lost link too, and take longer to read.
        auto io = Io::make(loop, *fd, EPOLLIN, Priority::timer, [this](std::uint32_t) {
            if (auto taken = datapath_->take_events(); !taken) log_(Level::error, taken.error().text);
            pass();
        });
        if (!io) return tl::unexpected(io.error());
        datapath_events_.emplace(std::move(*io));
    }
    return observer_->listen(loop);
}

/// Every port that is there is looked at before anything is made, so that a refusal leaves nothing behind.
Result<> Team::check_ports() const {
    if (options_.without_ports) return {};
    for (const auto& entry : configuration_.team.ports) {
        if (entry.first == name())
            return fail(EINVAL, fmt::format("port {}: is the team itself", entry.first));
        const auto* link = find_link(observer_->links(), entry.first);
        if (link == nullptr) continue;
        if (auto may = may_join(observer_->links(), *link, name()); !may)
            return within(fmt::format("port {}", entry.first), std::move(may.error()));
    }
    return {};
}

/// -r: whatever has the team's name goes. If it is a team of ours, its ports get back first what they had.
Result<> Team::remove_existing() {
    const auto* named = find_link(observer_->links(), name());
    if (named == nullptr) return {};
    const bool ours = find_altname(observer_->links(), team_mark(name())) == named;
    if (auto removed = control_.remove(named->index); !removed)
        return within(fmt::format("device {} cannot be replaced", name()), std::move(removed.error()));
    observer_->catch_up();
    if (ours) clear_leftovers();
    return {};
}

/// Ports of a team whose device is gone, as when somebody removed it while no daemon ran: they are put back
/// before anything else looks at them, for what they are like now is not what they were.
void Team::clear_leftovers() {
    auto journal = read_journal(name());
    std::vector<PortBefore> left;
    if (journal && *journal) left = (*journal)->ports;
    for (const auto& entry : observer_->links()) {
        const auto mark = port_mark_of(entry.second);
        if (mark && mark->team == name() &&
            std::ranges::find(left, entry.first, &PortBefore::index) == left.end())
            left.push_back(remember(entry.second, mark->slot));
    }
    for (const auto& port : left)
        if (auto restored = put_back(port); !restored)
            log_(Level::warning, fmt::format("port {}: {}", port.name, restored.error().text));
    if (!left.empty())
        log_(Level::notice, fmt::format("put back {} ports of an earlier team of this name", left.size()));
    if (journal && *journal) release_workers((*journal)->workers, log_);
    remove_journal(name());
    observer_->catch_up();
}

Result<> Team::make_device() {
    MacAddress address = configuration_.team.hwaddr.value_or(MacAddress{});
    // Without one of its own the team has its first port's address, as with the kernel's driver.
    if (address.is_zero() && !options_.without_ports)
        for (const auto& entry : configuration_.team.ports)
            if (const auto* link = find_link(observer_->links(), entry.first);
                link != nullptr && address.is_zero())
                address = link->address;
    auto device = datapath_->create_device(control_, name(), address);
    if (!device) return tl::unexpected(device.error());
    device_ = std::move(*device);
    made_device_ = true;
    if (auto read = observer_->refresh(); !read) return read;
    const auto* team = find_link(observer_->links(), device_.team);
    if (team == nullptr) return fail(ENODEV, fmt::format("device {} vanished while it was made", name()));
    mtu_ = team->mtu;
    journal_.team = device_.team;
    journal_.inner = device_.inner;
    offloads_->add_team(*team, configuration_.team.offload, {});
    journal_.offloads = offloads_->kept(device_.team);
    runner_ = make_runner(configuration_.team.runner, std::nullopt);
    if (auto kept = keep_journal(); !kept) return kept;
    return datapath_->attach_team(device_, plan(decision_).tables);
}

/// Goes on where a dead daemon left off. Nothing is taken down: our programs take the place of the running
/// ones when their maps say the same as those do.
Result<> Team::adopt_device(const TeamDevice& device) {
    device_ = device;
    const auto* team = find_link(observer_->links(), device_.team);
    mtu_ = team->mtu;
    auto journal = read_journal(name());
    if (!journal)
        log_(Level::warning, fmt::format("what was there before is not known: {}", journal.error().text));
    if (journal && *journal) journal_ = written_ = std::move(**journal);
    limited_to_ = team->gso_max; // by whom is not known; the ports decide
    offloads_->add_team(*team, configuration_.team.offload, journal_.offloads);
    journal_.offloads = offloads_->kept(device_.team);
    journal_.team = device_.team;
    journal_.inner = device_.inner;
    const auto known = std::move(journal_.ports);
    journal_.ports.clear();
    // Known ones first and in their order; then those that bear the mark without an entry.
    const auto adopt = [this](const PortBefore& port) {
        journal_.ports.push_back(port);
        const auto* link = find_link(observer_->links(), port.index);
        return adopt_port(*link, port.slot);
    };
    for (const auto& port : known) {
        const auto* link = find_link(observer_->links(), port.index);
        if (link == nullptr) continue;
        if (datapath_->tends_ports() && link->master != device_.team) {
            // Taken out while no daemon ran: what is still ours on it goes.
            static_cast<void>(let_go(port));
            journal_.removed_by_hand.push_back(port.name);
            continue;
        }
        if (auto adopted = adopt(port); !adopted) return adopted;
    }
    for (const auto& entry : observer_->links()) {
        const auto mark = port_mark_of(entry.second);
        if (!mark || mark->team != name() || before(entry.first) != nullptr) continue;
        if (datapath_->tends_ports() && entry.second.master != device_.team) continue;
        auto port = remember(entry.second, mark->slot);
        if (entry.second.permanent_address) port.address = *entry.second.permanent_address;
        if (auto adopted = adopt(port); !adopted) return adopted;
    }
    for (const auto& port : ports_) {
        // It carries already: one that lacks something is not refused any more.
        auto contract = port.config.offload;
        if (contract.lacking == Lacking::refuse) contract.lacking = Lacking::demote;
        auto* was = before(port.index);
        if (auto added = offloads_->add(*find_link(observer_->links(), port.index), contract, was->offloads);
            !added)
            return within(fmt::format("port {}", port.name), std::move(added.error()));
        was->offloads = offloads_->kept(port.index);
    }
    runner_ = make_runner(configuration_.team.runner, journal_.active);
    decision_ = step(runner_, candidates());
    // The journal's homes were made for these, and stay as they are.
    for (const auto& port : ports_)
        tables_.ports[port.slot.value] = port.index;
    tables_ = plan(decision_).tables;
    if (auto attached = datapath_->attach_team(device_, tables_); !attached) return attached;
    for (const auto& port : ports_) {
        auto attached = datapath_->attach_port(port.index);
        if (!attached) return within(fmt::format("port {}", port.name), std::move(attached.error()));
    }
    log_(Level::notice, fmt::format("went on with the running team, {} ports", ports_.size()),
         message_id::adopted);
    return {};
}

Result<> Team::adopt_port(const Link& link, Slot slot) {
    const auto config = config_of(link.name);
    const bool up = link.has_link();
    ports_.push_back({.index = link.index,
                      .slot = slot,
                      .name = link.name,
                      .config = config,
                      .watch = PortWatch(config.link_watches, configuration_.team.link_watch_policy, up),
                      .modes = ethtool_.read_link_modes(link.index),
                      .had_link = up});
    return {};
}

Result<> Team::join_configured() {
    if (options_.without_ports) return {};
    for (const auto& entry : configuration_.team.ports) {
        if (find_port(entry.first) != nullptr) continue;
        if (std::ranges::find(journal_.removed_by_hand, entry.first) != journal_.removed_by_hand.end())
            continue;
        const auto* link = find_link(observer_->links(), entry.first);
        if (link == nullptr) {
            log_(Level::warning,
                 fmt::format("port {}: no such device yet; it joins when it appears", entry.first));
            awaited_.insert(entry.first);
            continue;
        }
        auto joined = join(*link);
        if (!joined && joined.error().number == EOPNOTSUPP &&
            entry.second.offload.lacking == Lacking::refuse) {
            log_(Level::warning, fmt::format("port {}: {}; not taken in", entry.first, joined.error().text),
                 message_id::offload_lacking, {{"PORT", entry.first}});
            awaited_.insert(entry.first); // it may come back as a better one
            refused_ports_.insert(entry.first);
            continue;
        }
        if (!joined) return within(fmt::format("port {}", entry.first), std::move(joined.error()));
    }
    return {};
}

void Team::abandon() {
    if (made_device_) stop();
}

void Team::stop() {
    observer_->catch_up();
    trial_->end(); // before its port gets back what it had as none
    if (options_.keep_on_stop) {
        log_(Level::info, "stopped; device and ports stay as they are");
        return;
    }
    workers_->manage(false);
    awaited_.clear(); // who leaves now does not come back
    while (!ports_.empty()) {
        const auto port = ports_.back();
        if (auto left = leave(port.index); !left)
            log_(Level::warning, fmt::format("port {}: {}", port.name, left.error().text));
    }
    if (find_link(observer_->links(), device_.team) != nullptr)
        if (auto removed = control_.remove(device_.team); !removed)
            log_(Level::warning, fmt::format("device {} is still there: {}", name(), removed.error().text));
    interrupts_->end();
    remove_journal(name());
}

} // namespace teamo
