// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/team/ports/port_set.h"

#include "model/observation.h"
#include "plan/team/membership.h"

#include <algorithm>

namespace teamo {

const TeamPort* PortSet::find(std::string_view name) const {
    const auto* link = context_.link(name);
    const auto found = std::ranges::find_if(ports_, [&](const TeamPort& port) {
        return link != nullptr ? port.index == link->index : port.key == name;
    });
    return found == ports_.end() ? nullptr : &*found;
}

std::string PortSet::key_of(const Link& link) const {
    if (const auto port = std::ranges::find(ports_, link.index, &TeamPort::index); port != ports_.end())
        return port->key;
    const auto configured = configured_name(context_.config(), link);
    return configured.empty() ? link.name : configured;
}

PortWatch PortSet::make_watch(const PortConfig& config, PortWatch::Start start) const {
    start.trusted = context_.has_lacp();
    return {config.link_watches, context_.config().link_watch_policy, start};
}

/// Removes a port for the runner, the tables and the subsystems; its entry in the journal stays.
void PortSet::remove(IfIndex port) {
    unattached_.erase(port);
    context_.programs->forget(port);
    subsystems_.offloads->remove(port); // before it is restored, which would look like drift
    std::erase_if(ports_, [port](const TeamPort& one) { return one.index == port; });
}

void PortSet::drop_lost() {
    const auto back = replaced();
    returned_.insert(back.begin(), back.end());
    for (const auto& port : std::vector(ports_)) {
        if (context_.link(port.index) != nullptr && !back.contains(port.index)) continue;
        context_.log(Level::warning, fmt::format("port {}: its device is gone", port.name));
        returned_.insert(port.index); // it may be back before this pass ends
        for (const auto& [name, config] : context_.config().ports)
            if (name == port.key && !context_.options.no_ports)
                awaited_.insert(name); // also one that only a request has configured
        remove(port.index);
    }
    bool renamed = false;
    for (auto& port : ports_) {
        const auto& name = context_.link(port.index)->name;
        if (port.name == name) continue;
        renamed = true;
        port.name = name;
        // One of others has no mark by which a later daemon knows it.
        if (auto* before = context_.journal.port(port.index); before && context_.datapath->is_guest())
            before->name = name;
    }
    if (renamed && context_.changed) context_.changed();
    const auto is_gone = [&](IfIndex device) {
        return context_.link(device) == nullptr || back.contains(device);
    };
    std::erase_if(leaving_, [&](const auto& entry) { return is_gone(entry.first); });
    refusals_.forget_if([&](const std::string&, IfIndex device) { return is_gone(device); });
    // Their entries stay, for when the devices return.
    entries_.mark_away(back);
    drop_removed_by_others();
}

/// By all names that the configuration has for it. The key too, if no other device has that name: the device
/// may get it back.
void PortSet::note_removed(const Link& link, const std::string& key) {
    auto& removed = context_.journal.edit().removed_by_hand;
    auto names = configured_names();
    std::erase_if(names, [&link](const std::string& name) { return !link.has_name(name); });
    names.push_back(link.name);
    if (context_.link(key) == nullptr) names.push_back(key);
    for (auto& name : names)
        if (std::ranges::count(removed, name) == 0) removed.push_back(std::move(name));
}

/// With the kernel's drivers a port is a device whose master is the team, else a device without one, and
/// other programs may change that (ip link set PORT nomaster, NetworkManager).
void PortSet::drop_removed_by_others() {
    for (auto& port : context_.journal.edit().ports) {
        const auto* link = context_.link(port.index);
        if (link == nullptr || !entries_.has_left(*link) || port.state != PortState::joined) continue;
        // The kernel also removes a port from its master before it moves or removes the device. Then the
        // device cannot be read any more, and its RTM_DELLINK follows; or it is there again.
        const auto now = context_.observer->read_now(port.index);
        if (!now || !entries_.has_left(*now) || context_.observer->has_removed(port.index)) continue;
        const auto* master = context_.link(now->master);
        if (context_.datapath->is_guest())
            context_.log(Level::notice,
                         fmt::format("port {}: is no slave of {} any more", now->name, context_.name()));
        else
            context_.log(
                Level::notice,
                master == nullptr
                    ? fmt::format("port {} was removed by another program", now->name)
                    : fmt::format("port {0} was made a port of {1} by another program, and leaves {2}; to "
                                  "add it again: ip link set {0} nomaster; teamoctl {2} port add {0}",
                                  now->name, master->name, context_.name()));
        remove(port.index);
        if (!context_.datapath->is_guest()) note_removed(*now, port.name);
        port.state = PortState::leaving;
        leaving_[port.index] = {.removed_by_others = true, .name = now->name};
    }
}

bool PortSet::waits(const TeamPort& port) const { return port.watch.waits() || context_.runs_lacp(); }

void PortSet::step_watches() {
    const auto now = Clock::now();
    subsystems_.probes->read_all();
    // Bonding checks links only while the team is up.
    const bool team_is_up = context_.team() != nullptr && context_.team()->is_up();
    for (const auto index : subsystems_.offloads->take_new_modes())
        if (const auto port = std::ranges::find(ports_, index, &TeamPort::index); port != ports_.end())
            read_modes(*port);
    for (auto& port : ports_) {
        const auto* link = context_.link(port.index);
        // A port in use stays in use when the team is set up, before bonding's first check.
        const bool in_use =
            link != nullptr && port.had_link && port.watch.carrier_losses() == link->carrier_losses;
        const bool has_link =
            link != nullptr && link->has_link() && (link->bond_uses_link || !team_is_up || in_use);
        const auto losses = link == nullptr ? 0 : link->carrier_losses;
        // Speed and duplex belong to a link: they are read when there is a new one, also after a short loss.
        const bool is_new = has_link && (!port.had_link || port.modes_losses != losses);
        if (is_new || !has_link) port.modes_patience.reset();
        if (is_new) subsystems_.offloads->mark_stale(port.index);
        if (is_new || (port.modes_patience && port.modes_patience->is_over(now))) {
            read_modes(port);
            port.modes_losses = losses;
        }
        port.had_link = has_link;
        subsystems_.probes->note_answers(port.index, port.watch);
        port.watch.step(has_link, losses, now);
        step_damping(port, now);
    }
    end_needless_delay();
    note_drain_phases();
    for (const auto& port : ports_) {
        if (auto* entry = context_.journal.port(port.index); entry != nullptr) {
            entry->carrier_losses = waits(port) ? std::optional(port.watch.carrier_losses()) : std::nullopt;
            entry->unanswered = port.watch.has_link() && !port.watch.up();
        }
    }
}

/// For the runner. A port that LACP uses is judged by its link.
bool PortSet::counts_as_up(const PortWatch& watch) const {
    return context_.runs_lacp() ? watch.has_link() : watch.up();
}

void PortSet::read_modes(TeamPort& port) {
    const auto read = context_.ethtool.read_link_modes(port.index);
    // After a failed read, as of a card that is being reset, the port keeps the speed that is known: another
    // one would change its aggregator, or the active port.
    const auto modes = read.value_or(port.modes);
    const auto speed = [](const LinkStatus& one) { return one.speed.value_or(0); };
    if (speed(port.modes) != 0 && speed(modes) != 0 && speed(port.modes) != speed(modes))
        context_.log.port(
            Level::notice, port.name,
            fmt::format(": speed changed from {} to {} Mbit/s", speed(port.modes), speed(modes)));
    port.modes = modes;
    // Some drivers know the speed a moment after the link is there, and some never.
    await_passing(port.modes_patience, !read || !modes.speed, Clock::now());
    if (port.modes_patience && port.modes_patience->times() >= Patience::many) port.modes_patience.reset();
}

bool PortSet::update_membership() {
    subsystems_.offloads->forget_vanished_trial();
    joins_returned_ = !returned_.empty();
    attach_rest();
    const bool finished = finish_due_leaves();
    const bool added = join_added_by_others();
    const bool joined = join_awaited();
    returned_.clear();
    note_users();
    note_shared_address();
    note_idle_xdp();
    return joined || finished || added;
}

bool PortSet::join_added_by_others() {
    if (ends_ || !context_.datapath->kernel_manages_ports()) return false;
    std::vector<Link> added;
    for (const auto& [index, link] : context_.links())
        if (entries_.is_added_by_others(link) && !returned_.contains(index) &&
            refusals_.is_worth_trying(key_of(link), link))
            added.push_back(link);
    for (const auto& link : added)
        if (auto joined = join(link.index); !joined) refusals_.note(key_of(link), link.index, joined.error());
    return !added.empty();
}

/// False for the second of two names that the configuration has for one device.
bool PortSet::has_port(const std::string& key) const {
    const auto* port = find(key);
    if (port == nullptr) return false;
    const auto* link = context_.link(port->index);
    const bool is_its_own = port->key == key || (link != nullptr && link->name == key);
    return is_its_own || std::ranges::count(context_.journal.now().configured, port->key) == 0;
}

/// Whenever a port of the file is none, whatever the reason: its device was renamed, vanished or never
/// existed. A port that only a request has configured waits for a request to add it.
void PortSet::await_configured() {
    if (ends_ || context_.options.no_ports) return;
    const auto& journal = context_.journal.now();
    for (const auto& name : journal.configured)
        if (!has_port(name)) awaited_.insert(name);
    // Another port may have the name by now, or had it until it was removed.
    std::erase_if(awaited_, [&](const std::string& name) {
        return has_port(name) || std::ranges::count(journal.removed_by_hand, name) != 0;
    });
}

bool PortSet::join_awaited() {
    await_configured();
    // A port that is not awaited any more is not tried again.
    refusals_.forget_if([this](const std::string& port, IfIndex) {
        const auto* link = context_.link(port);
        return link == nullptr || !(awaited_.contains(port) || entries_.is_added_by_others(*link));
    });
    bool tried = false;
    for (const auto& port : std::set(awaited_)) {
        const auto* link = context_.link(port);
        if (link == nullptr || returned_.contains(link->index) || !refusals_.is_worth_trying(port, *link))
            continue;
        tried = true;
        const auto device = link->index;
        if (const auto* other = find(port); other != nullptr) {
            refusals_.note(port, device, another_name_of(other->key));
            continue;
        }
        if (auto joined = join(device); !joined) refusals_.note(port, device, joined.error());
    }
    return tried;
}

std::optional<Clock::time_point> PortSet::deadline() const {
    std::optional<Clock::time_point> first;
    if (joins_returned_) first = Clock::now();
    for (const auto& port : ports_) {
        first = earlier(first, port.watch.deadline());
        if (port.modes_patience) first = earlier(first, port.modes_patience->next());
        if (port.damping) first = earlier(first, port.damping->deadline());
    }
    first = earlier(first, refusals_.deadline());
    for (const auto& [port, leaving] : leaving_)
        first = earlier(first, leaving.patience.next());
    return first;
}

bool PortSet::update_unreported() {
    std::vector<IfIndex> devices;
    for (const auto& port : ports_)
        devices.push_back(port.index);
    if (context_.device.inner) devices.push_back(context_.device.inner);
    bool changed = false;
    for (const auto device : devices) {
        const auto* known = context_.link(device);
        const auto now = context_.control.read(device);
        if (known == nullptr || !now || (now->gso_max == known->gso_max && now->ipv6 == known->ipv6))
            continue;
        changed = context_.observer->edit(device, [&now](Link& link) {
            link.gso_max = now->gso_max;
            link.ipv6 = now->ipv6;
        });
    }
    return changed;
}

bool PortSet::find_awaited() {
    return std::ranges::any_of(awaited_, [this](const std::string& name) {
        return context_.link(name) == nullptr && context_.observer->find_now(name) != nullptr;
    });
}

PortConfig PortSet::config_of(std::string_view port) const {
    for (const auto& [name, config] : context_.config().ports)
        if (name == port) return config;
    PortConfig config;
    config.offload = context_.config().offload;
    if (!context_.config().link_watches.empty()) config.link_watches = context_.config().link_watches;
    config.damping = context_.config().damping;
    return config;
}

/// True if the device has one of the names now: it may have been renamed, and in the file too.
bool PortSet::is_named(const TeamPort& port, const std::vector<std::string>& names) const {
    const auto* link = context_.link(port.index);
    return link != nullptr &&
           std::ranges::any_of(names, [link](const std::string& name) { return link->has_name(name); });
}

std::vector<std::string> PortSet::configured_names() const {
    std::vector<std::string> names;
    for (const auto& [name, config] : context_.config().ports)
        names.push_back(name);
    return names;
}

std::vector<std::string> PortSet::wanted_names() const {
    auto names = configured_names();
    names.insert(names.end(), awaited_.begin(), awaited_.end());
    return names;
}

void PortSet::reconfigure_ports(bool watches_anew) {
    for (auto& port : ports_) {
        const auto* link = context_.link(port.index);
        if (auto name = link == nullptr ? "" : configured_name(context_.config(), *link); !name.empty()) {
            port.key = std::move(name);
            context_.journal.port(port.index)->name = port.key;
        }
        auto config = config_of(port.key);
        if (watches_anew || config.link_watches != port.config.link_watches)
            port.watch = make_watch(config, {.up = port.watch.has_link() || port.watch.up(),
                                             .unanswered = port.watch.has_link() && !port.watch.up(),
                                             .other_watches = true,
                                             .losses = port.watch.carrier_losses()});
        if (config.damping && port.damping)
            port.damping->change(*config.damping);
        else
            port.damping = damping_of(config, {});
        subsystems_.offloads->change(port.index, config.offload);
        // What the file says anew counts.
        if (config.drain != port.config.drain) context_.journal.port(port.index)->drain = {};
        port.config = std::move(config);
    }
}

/// Ports that were in an earlier configuration and are not in this one leave. Ports that were added by
/// request or by another program stay.
void PortSet::follow_configured() {
    auto& configured = context_.journal.edit().configured;
    auto names = configured_names();
    for (const auto& name : configured) {
        if (std::ranges::count(names, name) != 0) continue;
        awaited_.erase(name);
        refusals_.forget(name);
        if (const auto* port = find(name); port != nullptr && !is_named(*port, names))
            static_cast<void>(begin_leaving(port->index));
    }
    for (const auto& name : names)
        if (std::ranges::count(configured, name) == 0)
            std::erase(context_.journal.edit().removed_by_hand, name);
    configured = std::move(names);
}

void PortSet::reconfigure(const TeamConfig& before) {
    const auto& now = context_.config();
    const bool other_lacp = !context_.datapath->is_bond() && is_lacp(before.runner) != is_lacp(now.runner);
    reconfigure_ports(before.link_watch_policy != now.link_watch_policy || other_lacp);
    if (context_.options.no_ports) return;
    follow_configured();
    refusals_.clear(); // another configuration may be the cure
}

Result<> PortSet::check(const TeamConfig& config) const {
    if (context_.options.no_ports) return {};
    for (const auto& [name, port] : config.ports) {
        if (name == context_.name()) return fail(EINVAL, fmt::format("port {}: is the team itself", name));
        const auto* link = context_.link(name);
        if (link == nullptr) continue;
        // One that others use joins when they have gone.
        if (auto may = may_join(context_.links(), *link, context_.name(), refusals_.takes());
            !may && !is_passing(may.error()))
            return within(fmt::format("port {}", name), std::move(may.error()));
    }
    return {};
}

Result<> PortSet::check_distinct(const TeamConfig& config) const {
    return context_.options.no_ports ? Result<>() : teamo::check_distinct(context_.links(), config);
}

void PortSet::join_configured() {
    if (context_.options.no_ports) return;
    follow_configured();
    await_configured();
    for (const auto& [name, config] : context_.config().ports)
        if (awaited_.contains(name) && context_.link(name) == nullptr)
            context_.log(Level::warning,
                         fmt::format("port {}: no such device yet; it joins when it appears", name));
    if (leaving_.empty()) join_awaited(); // else there may be no slot until then; the pass joins them
}

} // namespace teamo
