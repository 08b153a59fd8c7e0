// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How a team begins and ends: its parts, its device, its configured ports, and everything put back.
#include "team/team.h"

#include "kernel/files/files.h"
#include "model/marks.h"
#include "plan/team/membership.h"
#include "team/port_device.h"
#include "unsupported.h"

#include <sys/epoll.h>

#include <algorithm>
#include <ranges>
#include <thread>

namespace teamo {
namespace {

/// How long a stop tries to put back what was refused: short enough for who waits for it.
constexpr std::chrono::seconds putting_back_patience{2};

} // namespace

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
         by_bpf ? ignored_by_bpf(team->configuration_.team) : ignored_by_driver(team->configuration_.team))
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
    auto carrier_monitor = CarrierMonitor::make(loop, log_, *observer_);
    if (!carrier_monitor) return tl::unexpected(carrier_monitor.error());
    carrier_monitor_ = std::move(*carrier_monitor);
    auto announcer = Announcer::make(loop, log_, [this]() -> const Links& { return observer_->links(); });
    if (!announcer) return tl::unexpected(announcer.error());
    announcer_ = std::move(*announcer);
    auto timer = Timer::make(loop, [this] { pass(); });
    if (!timer) return tl::unexpected(timer.error());
    timer_.emplace(std::move(*timer));
    auto look_again_timer = Timer::make(loop, [this] { poll_unreported(); });
    if (!look_again_timer) return tl::unexpected(look_again_timer.error());
    poll_timer_.emplace(std::move(*look_again_timer));

    // Before the ports are looked at: an earlier daemon may have left one without its TSO.
    auto trial = OffloadTrial::make(loop, log_, ethtool_, name());
    if (!trial) return tl::unexpected(trial.error());
    trial_ = std::move(*trial);
    if (auto started = start_balancing(loop); !started) return started;
    if (auto started = start_offloads(loop); !started) return started;
    if (auto started = start_interrupts(loop); !started) return started;
    if (auto started = start_workers(loop); !started) return started;
    if (auto started = start_benchmark_pause(loop); !started) return started;
    if (options_.recreate) {
        if (auto good = check_ports(); !good) return good;
        if (auto replaced = remove_existing(); !replaced) return replaced;
    }
    if (auto removed = remove_half_made(); !removed) return removed;
    const auto existing = datapath_->find_device(observer_->links(), name(), options_.take_over);
    if (!existing) return tl::unexpected(existing.error());
    if (!*existing) {
        if (auto cleared = clear_leftovers(); !cleared) return cleared;
        if (auto good = check_ports(); !good) return good;
    }
    if (auto made = *existing ? adopt_device(**existing) : make_device(); !made) return made;
    if (auto joined = join_configured(); !joined) return joined;
    pass();
    balancing_->start();
    release_left_workers();
    workers_->start();
    poll_unreported();
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
    return ours ? clear_leftovers() : Result<>();
}

Result<> Team::make_device() {
    MacAddress address = configuration_.team.hwaddr.value_or(MacAddress{});
    // Without one of its own the team has its first port's address, as with the kernel's driver.
    if (address.is_zero() && !options_.without_ports)
        for (const auto& entry : configuration_.team.ports)
            if (const auto* link = find_link(observer_->links(), entry.first);
                link != nullptr && address.is_zero())
                address = link->address;
    journal_.making = true; // or a kill before the device has its mark would leave somebody else's
    if (auto kept = keep_journal(); !kept) return kept;
    auto device = datapath_->create_device(control_, name(), address);
    if (!device) {
        if (journal_.ports.empty()) remove_journal(name());
        return tl::unexpected(device.error());
    }
    device_ = std::move(*device);
    made_device_ = true;
    journal_.making = false;
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

Result<> Team::join_configured() {
    if (options_.without_ports) return {};
    for (const auto& entry : configuration_.team.ports) {
        if (find_port(entry.first) != nullptr) continue;
        if (std::ranges::find(journal_.removed_by_hand, entry.first) != journal_.removed_by_hand.end())
            continue;
        awaited_.insert(entry.first);
        const auto* link = find_link(observer_->links(), entry.first);
        if (link == nullptr) {
            log_(Level::warning,
                 fmt::format("port {}: no such device yet; it joins when it appears", entry.first));
            continue;
        }
        if (!is_worth_trying(entry.first, *link)) continue; // it was, a moment ago
        const auto joined = join(link->index);
        if (joined) continue;
        const bool lacks_something =
            joined.error().number == EOPNOTSUPP && entry.second.offload.lacking == Lacking::refuse;
        // A team that carries goes on without it, and a new one does not wait for what may pass.
        const bool is_gone = joined.error().number == ENODEV;
        if (!made_device_ || lacks_something || is_gone || is_passing(joined.error()))
            note_refusal(entry.first, joined.error());
        else
            return within(fmt::format("port {}", entry.first), joined.error());
    }
    return {};
}

void Team::abandon() {
    options_.keep_on_stop = false; // what was begun is not to be kept
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
    const auto until = Clock::now() + putting_back_patience;
    await_leaving(until);
    remove_device(until);
    interrupts_->end();
    if (leaving_.empty())
        remove_journal(name());
    else
        log_(Level::warning, fmt::format("{} ports are not as they were; a start and a stop puts them back",
                                         leaving_.size()));
}

/// Nobody is there afterwards to try again.
void Team::await_leaving(Clock::time_point until) {
    for (auto& [port, patience] : leaving_)
        patience = {};
    while (!leaving_.empty() && Clock::now() < until) {
        const auto next = std::ranges::min(leaving_ | std::views::values, {}, &Patience::next).next();
        std::this_thread::sleep_until(std::min(next, until));
        settle_due();
    }
}

void Team::remove_device(Clock::time_point until) {
    Patience patience;
    while (find_link(observer_->links(), device_.team) != nullptr) {
        const auto removed = control_.remove(device_.team);
        observer_->catch_up();
        if (removed) return;
        patience.refused(Clock::now());
        if (!is_passing(removed.error()) || patience.next() > until)
            return log_(Level::warning,
                        fmt::format("device {} is still there: {}", name(), removed.error().text));
        std::this_thread::sleep_until(patience.next());
    }
}

} // namespace teamo
