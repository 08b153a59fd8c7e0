// SPDX-License-Identifier: LGPL-2.1-or-later
#include "team/ports/port_set.h"

#include "model/observation.h"
#include "plan/team/membership.h"
#include "team/ports/port_device.h"

#include <algorithm>

namespace teamo {

const TeamPort* PortSet::find(std::string_view name) const {
    const auto* link = find_link(context_.links(), name);
    const auto found = std::ranges::find_if(ports_, [&](const TeamPort& port) {
        return link != nullptr ? port.index == link->index : port.name == name;
    });
    return found == ports_.end() ? nullptr : &*found;
}

std::vector<Candidate> PortSet::candidates() const {
    std::vector<Candidate> list;
    for (const auto& port : ports_)
        list.push_back({.port = port.index,
                        .up = port.watch.up(),
                        .prio = port.config.prio,
                        .sticky = port.config.sticky,
                        .speed = port.modes.speed.value_or(0),
                        .duplex = port.modes.duplex,
                        .last = subsystems_.offloads->is_last(port.index)});
    return list;
}

// ---- a pass --------------------------------------------------------------------------------------

/// Removes a port for the runner, the tables and the subsystems; its entry in the journal stays.
void PortSet::remove(IfIndex port) {
    subsystems_.offloads->remove(port); // before it is restored, which would look like drift
    std::erase_if(ports_, [port](const TeamPort& one) { return one.index == port; });
}

void PortSet::drop_lost() {
    const auto gone = [this](IfIndex port) { return context_.link(port) == nullptr; };
    for (const auto& port : std::vector(ports_)) {
        if (!gone(port.index)) continue;
        context_.log(Level::warning, fmt::format("port {}: its device is gone", port.name));
        const auto& configured = context_.config().ports;
        if (std::ranges::any_of(configured, [&port](const auto& entry) { return entry.first == port.name; }))
            awaited_.insert(port.name);
        remove(port.index);
    }
    std::erase_if(leaving_, [&gone](const auto& entry) { return gone(entry.first); });
    // Their entries stay, for when the devices return.
    mark_away(context_.journal.edit_ports(), gone);
    drop_removed_by_others();
}

/// With the team driver a port is a device whose master is the team, and other programs may change that
/// (ip link set PORT nomaster, NetworkManager).
void PortSet::drop_removed_by_others() {
    if (!context_.datapath->kernel_manages_ports()) return;
    for (auto& port : context_.journal.edit_ports()) {
        const auto* link = context_.link(port.index);
        if (link == nullptr || link->master == context_.device.team || port.state != PortState::joined)
            continue;
        context_.log(Level::notice, fmt::format("port {} was removed by another program", port.name));
        remove(port.index);
        context_.journal.note_removed(port.name);
        port.state = PortState::leaving;
        leaving_[port.index] = {.removed_by_others = true, .name = port.name};
    }
}

void PortSet::step_watches() {
    const auto now = Clock::now();
    for (const auto index : subsystems_.offloads->take_new_modes())
        if (const auto port = std::ranges::find(ports_, index, &TeamPort::index); port != ports_.end())
            read_modes(*port);
    for (auto& port : ports_) {
        const auto* link = context_.link(port.index);
        const bool has_link = link != nullptr && link->has_link();
        // Speed and duplex belong to a link: they are read when there is a new one.
        if (has_link && !port.had_link) {
            read_modes(port);
            subsystems_.offloads->mark_stale(port.index);
        }
        port.had_link = has_link;
        port.watch.step(has_link, now);
    }
}

void PortSet::read_modes(TeamPort& port) {
    const auto modes = context_.ethtool.read_link_modes(port.index);
    const auto speed = [](const LinkStatus& one) { return one.speed.value_or(0); };
    if (speed(port.modes) != 0 && speed(modes) != 0 && speed(port.modes) != speed(modes))
        context_.log(Level::notice,
                     fmt::format("port {}: speed changed from {} to {} Mbit/s", port.name, speed(port.modes),
                                 speed(modes)),
                     message_id::none, {{"PORT", port.name}});
    port.modes = modes;
}

bool PortSet::update_membership() {
    subsystems_.trial->forget_vanished();
    const bool finished = finish_due_leaves();
    const bool added = join_added_by_others();
    return join_awaited() || finished || added;
}

bool PortSet::join_added_by_others() {
    if (!context_.datapath->kernel_manages_ports()) return false;
    std::vector<Link> added;
    for (const auto& [index, link] : context_.links())
        if (link.master == context_.device.team && context_.journal.port(index) == nullptr &&
            is_worth_trying(link.name, link))
            added.push_back(link);
    for (const auto& link : added)
        if (auto joined = join(link.index); !joined) note_refusal(link.name, joined.error());
    return !added.empty();
}

bool PortSet::join_awaited() {
    // A port that is not awaited any more is not tried again.
    std::erase_if(refused_, [this](const auto& entry) {
        const auto* link = find_link(context_.links(), entry.first);
        if (link == nullptr) return true;
        const bool added_by_others = is_slave(*link) && context_.journal.port(link->index) == nullptr;
        return !awaited_.contains(entry.first) && !added_by_others;
    });
    bool tried = false;
    for (const auto& port : std::set(awaited_)) {
        const auto* link = find_link(context_.links(), port);
        if (link == nullptr || !is_worth_trying(port, *link)) continue;
        tried = true;
        if (auto joined = join(link->index); !joined) note_refusal(port, joined.error());
    }
    return tried;
}

/// Logged once. Tried again when the reason may have passed, or when another program has released the device.
void PortSet::note_refusal(const std::string& port, const Error& refusal) {
    auto& noted = refused_[port];
    noted.message(context_.log, Level::warning, fmt::format("port {}: ", port), refusal.text);
    if (const auto* link = find_link(context_.links(), port))
        noted.state_when_refused = {link->master, link->altnames};
    await_passing(noted.patience, is_passing(refusal), Clock::now());
    // Each try may take the device down for the program that uses it.
    if (noted.patience && noted.patience->times() >= Patience::many) noted.patience.reset();
}

bool PortSet::is_worth_trying(const std::string& port, const Link& link) const {
    const auto noted = refused_.find(port);
    if (noted == refused_.end()) return true;
    const auto& refused = noted->second;
    return refused.state_when_refused != std::pair(link.master, link.altnames) ||
           (refused.patience && refused.patience->is_over(Clock::now()));
}

std::optional<Clock::time_point> PortSet::deadline() const {
    std::optional<Clock::time_point> first;
    const auto at = [&first](std::optional<Clock::time_point> time) {
        if (time && (!first || *time < *first)) first = time;
    };
    for (const auto& port : ports_)
        at(port.watch.deadline());
    for (const auto& entry : refused_)
        if (entry.second.patience) at(entry.second.patience->next());
    for (const auto& entry : leaving_)
        at(entry.second.patience.next());
    return first;
}

bool PortSet::update_gso_limits() {
    bool changed = false;
    for (const auto& port : ports_) {
        auto* known = context_.observer->edit(port.index);
        const auto now = context_.control.read(port.index);
        if (known == nullptr || !now || now->gso_max == known->gso_max) continue;
        known->gso_max = now->gso_max;
        changed = true;
    }
    return changed;
}

// ---- configuration -------------------------------------------------------------------------------

PortConfig PortSet::config_of(std::string_view port) const {
    const auto& configured = context_.config().ports;
    const auto found =
        std::ranges::find_if(configured, [port](const auto& entry) { return entry.first == port; });
    if (found != configured.end()) return found->second;
    PortConfig config;
    config.offload = context_.config().offload;
    if (!context_.config().link_watches.empty()) config.link_watches = context_.config().link_watches;
    return config;
}

void PortSet::reconfigure() {
    for (auto& port : ports_) {
        auto config = config_of(port.name);
        if (config.link_watches != port.config.link_watches)
            port.watch = PortWatch(config.link_watches, context_.config().link_watch_policy, port.watch.up());
        subsystems_.offloads->change(port.index, config.offload);
        port.config = std::move(config);
    }
}

Result<> PortSet::check_configured() const {
    if (context_.options.without_ports) return {};
    for (const auto& entry : context_.config().ports) {
        if (entry.first == context_.name())
            return fail(EINVAL, fmt::format("port {}: is the team itself", entry.first));
        const auto* link = find_link(context_.links(), entry.first);
        if (link == nullptr) continue;
        if (auto may = may_join(context_.links(), *link, context_.name()); !may)
            return within(fmt::format("port {}", entry.first), std::move(may.error()));
    }
    return {};
}

Result<> PortSet::join_configured(bool made_device) {
    if (context_.options.without_ports) return {};
    for (const auto& entry : context_.config().ports) {
        if (find(entry.first) != nullptr || context_.journal.was_removed(entry.first)) continue;
        awaited_.insert(entry.first);
        const auto* link = find_link(context_.links(), entry.first);
        if (link == nullptr) {
            context_.log(Level::warning,
                         fmt::format("port {}: no such device yet; it joins when it appears", entry.first));
            continue;
        }
        if (!is_worth_trying(entry.first, *link)) continue; // it was tried a moment ago
        const auto joined = join(link->index);
        if (joined) continue;
        const bool lacks_something =
            joined.error().number == EOPNOTSUPP && entry.second.offload.lacking == Lacking::refuse;
        // A running team continues without it, and a new one does not wait for a passing failure.
        const bool is_gone = joined.error().number == ENODEV;
        if (!made_device || lacks_something || is_gone || is_passing(joined.error()))
            note_refusal(entry.first, joined.error());
        else
            return within(fmt::format("port {}", entry.first), joined.error());
    }
    return {};
}

std::vector<RefusedStatus> PortSet::refused() const {
    std::vector<RefusedStatus> list;
    for (const auto& [port, refused] : refused_)
        list.push_back({.where = port, .what = refused.message.text()});
    for (const auto& entry : leaving_)
        if (const auto* port = context_.journal.port(entry.first))
            list.push_back({.where = port->name, .what = "is not restored yet"});
    return list;
}

} // namespace teamo
