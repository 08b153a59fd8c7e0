// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What an earlier daemon left, running or half done. What its journal says counts only for a device that
// has the team's mark now: numbers of devices are given away again.
#include "team/team.h"

#include "model/marks.h"
#include "plan/team/membership.h"
#include "team/port_device.h"

#include <algorithm>
#include <utility>

namespace teamo {

/// One that a daemon was making when it was killed is made anew.
Result<> Team::remove_half_made() {
    const auto journal = read_journal(name());
    const bool noted = journal && *journal && (*journal)->making;
    if (!is_half_made(observer_->links(), name(), noted)) return {};
    const auto* device = find_link(observer_->links(), name());
    log_(Level::notice, fmt::format("device {} was left half made; it is made anew", name()));
    if (auto removed = control_.remove(device->index); !removed)
        return within(fmt::format("device {} cannot be removed", name()), std::move(removed.error()));
    return observer_->refresh();
}

/// None where there is none, or where it makes no sense: that one is kept for who wants to know. One that
/// cannot be read just now will be.
Result<std::optional<Journal>> Team::read_own_journal() {
    auto journal = read_journal(name());
    if (journal || is_passing(journal.error())) return journal;
    const auto aside = set_journal_aside(name());
    log_(Level::warning, fmt::format("what was there before is not known: {}; {}", journal.error().text,
                                     aside ? "it is kept as " + *aside : aside.error().text));
    return std::optional<Journal>();
}

/// Ports of a team whose device is gone, as when somebody removed it while no daemon ran: they are put back
/// before anything else looks at them, for what they are like now is not what they were.
Result<> Team::clear_leftovers() {
    auto read = read_own_journal();
    if (!read) return tl::unexpected(read.error());
    auto& journal = *read;
    if (journal) journal_.ports = std::move(journal->ports);
    std::erase_if(journal_.ports, [this](const PortBefore& port) {
        const auto* link = find_link(observer_->links(), port.index);
        return link != nullptr && !is_ours(*link);
    });
    send_away(journal_.ports,
              [this](IfIndex port) { return find_link(observer_->links(), port) == nullptr; });
    for (const auto& [index, link] : observer_->links())
        if (is_ours(link) && before(index) == nullptr)
            journal_.ports.push_back(begin(link, port_mark_of(link)->slot));
    for (auto& port : journal_.ports)
        if (port.state != PortState::away) port.state = PortState::leaving;
    std::size_t left = 0;
    for (const auto& port : std::vector(journal_.ports)) {
        if (port.state != PortState::leaving) continue;
        ++left;
        if (auto settled = settle(port.index); !settled)
            log_(Level::warning, fmt::format("port {}: {}", port.name, settled.error().text));
    }
    if (left != 0)
        log_(Level::notice, fmt::format("put back {} ports of an earlier team of this name", left));
    if (journal) release_workers(journal->workers, log_);
    if (journal_.ports.empty()) remove_journal(name());
    written_ = {};
    observer_->catch_up();
    return {};
}

/// Goes on where a dead daemon left off. Nothing is taken down: our programs take the place of the running
/// ones when their maps say the same as those do.
Result<> Team::adopt_device(const TeamDevice& device) {
    device_ = device;
    const auto* team = find_link(observer_->links(), device_.team);
    mtu_ = team->mtu;
    auto journal = read_own_journal();
    if (!journal) return tl::unexpected(journal.error());
    if (*journal) journal_ = written_ = std::move(**journal);
    journal_.making = false;
    limited_to_ = team->gso_max; // by whom is not known; the ports decide
    offloads_->add_team(*team, configuration_.team.offload, journal_.offloads);
    journal_.offloads = offloads_->kept(device_.team);
    journal_.team = device_.team;
    journal_.inner = device_.inner;
    adopt_ports(std::exchange(journal_.ports, {}));
    for (const auto& port : ports_) {
        // It carries already: one that lacks something is not refused any more.
        auto contract = port.config.offload;
        if (contract.lacking == Lacking::refuse) contract.lacking = Lacking::demote;
        auto* was = before(port.index);
        if (auto added = offloads_->add(*find_link(observer_->links(), port.index), contract, was->offloads);
            !added)
            log_(Level::warning, fmt::format("port {}: {}", port.name, added.error().text));
        was->offloads = offloads_->kept(port.index);
    }
    runner_ = make_runner(configuration_.team.runner, journal_.active);
    decision_ = step(runner_, candidates());
    // The journal's homes were made for these, and stay as they are.
    for (const auto& port : ports_)
        tables_.ports[port.slot.value] = port.index;
    tables_ = plan(decision_).tables;
    if (auto attached = datapath_->attach_team(device_, tables_); !attached) return attached;
    for (const auto& port : ports_)
        if (auto attached = datapath_->attach_port(port.index); !attached) {
            // The others carry; one that is gone is found so by the first pass.
            if (is_passing(attached.error()))
                return within(fmt::format("port {}", port.name), std::move(attached.error()));
            log_(Level::error, fmt::format("port {}: {}", port.name, attached.error().text));
        }
    log_(Level::notice, fmt::format("went on with the running team, {} ports", ports_.size()),
         message_id::adopted);
    finish_begun();
    return {};
}

/// Known ones first and in their order; then those that have the mark and no entry.
void Team::adopt_ports(const std::vector<PortBefore>& noted) {
    for (const auto& port : noted) {
        const auto* link = find_link(observer_->links(), port.index);
        if (link == nullptr) {
            journal_.ports.push_back(port); // for when it comes back
        } else if (!is_ours(*link)) {
            if (port.state == PortState::joined)
                log_(Level::warning,
                     fmt::format("port {}: device {} does not have its mark {}; it is left as it is",
                                 port.name, link->name, port_mark(name(), port.slot)));
        } else if (port.state == PortState::joined && datapath_->kernel_manages_ports() &&
                   link->master != device_.team) {
            // Taken out while no daemon ran: what is still ours on it goes.
            journal_.removed_by_hand.push_back(port.name);
            if (auto released = let_go(port); !released && is_passing(released.error())) {
                journal_.ports.push_back(port); // finish_begun()
                journal_.ports.back().state = PortState::leaving;
            }
        } else if (port.state == PortState::joined) {
            adopt_port(port, *link);
        } else {
            journal_.ports.push_back(port); // finish_begun()
        }
    }
    send_away(journal_.ports,
              [this](IfIndex port) { return find_link(observer_->links(), port) == nullptr; });
    for (const auto& [index, link] : observer_->links()) {
        const auto mark = port_mark_of(link);
        if (!mark || mark->team != name() || before(index) != nullptr) continue;
        if (datapath_->kernel_manages_ports() && link.master != device_.team) continue;
        auto port = begin(link, mark->slot);
        port.state = PortState::joined;
        adopt_port(port, link);
    }
}

void Team::adopt_port(const PortBefore& port, const Link& link) {
    journal_.ports.push_back(port);
    const auto config = config_of(link.name);
    const bool up = link.has_link();
    ports_.push_back({.index = link.index,
                      .slot = port.slot,
                      .name = link.name,
                      .config = config,
                      .watch = PortWatch(config.link_watches, configuration_.team.link_watch_policy, up),
                      .modes = ethtool_.read_link_modes(link.index),
                      .had_link = up});
}

/// What the earlier daemon was about to do with a port when it was killed.
void Team::finish_begun() {
    for (const auto& port : std::vector(journal_.ports)) {
        if (port.state == PortState::leaving) static_cast<void>(settle(port.index));
        if (port.state != PortState::joining) continue;
        log_(Level::notice, fmt::format("port {}: it was only half a port; it joins now", port.name));
        if (auto joined = join(port.index); !joined) {
            awaited_.insert(port.name);
            note_refusal(port.name, joined.error());
        }
    }
}

} // namespace teamo
