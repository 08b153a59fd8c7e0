// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How a device becomes a port of the team: it joins, or was a port under an earlier daemon.
#include "daemon/cpus/worker_subsystem.h"
#include "daemon/team/ports/port_set.h"
#include "kernel/netlink/addresses.h"
#include "model/observation.h"
#include "plan/team/membership.h"

#include <algorithm>

namespace teamo {
namespace {

/// True if the link was lost and has returned while no daemon ran, and its watches would have delayed that.
bool has_bounced(const PortBefore& port, const Link& link) {
    return port.carrier_losses.value_or(link.carrier_losses) != link.carrier_losses;
}

} // namespace

Result<> PortSet::join(IfIndex port) {
    if (std::ranges::find(ports_, port, &TeamPort::index) != ports_.end())
        return fail(EEXIST, "is already a port of this team");
    const auto* seen = context_.link(port);
    const auto name = seen == nullptr ? std::string() : key_of(*seen);
    // Marks and names of a device that is down change without an event.
    const auto link = TEAMO_TRY(context_.observer->read_now(port));
    // Its name decides whether it is to join, and with which settings.
    if (!link.has_name(name) && context_.journal.port(port) == nullptr)
        return fail(EAGAIN, fmt::format("has another name now: {}", link.name));
    context_.observer->forget_removed(port); // no part knows a former device with its index
    auto& journal = context_.journal;
    if (context_.team() == nullptr) return fail(ENODEV, "the team's device is gone");
    const bool is_guest = context_.datapath->is_guest();
    if (!is_guest) TEAMO_TRY(may_join(context_.links(), link, context_.name(), refusals_.takes()));
    if (journal.port(port) == nullptr && !context_.datapath->kernel_manages_ports()) {
        const auto unicast = read_unicast_list(port);
        if (!unicast && is_passing(unicast.error())) return tl::unexpected(unicast.error());
        if (unicast) TEAMO_TRY(has_no_user_elsewhere(link, *unicast));
    }
    if (const auto* known = journal.port(port); known != nullptr && known->state == PortState::leaving) {
        TEAMO_TRY(finish_leaving(port));
        return join(port);
    }
    if (ports_.empty() && journal.port(port) == nullptr && !is_guest)
        TEAMO_TRY(devices_.prepare_address(link));
    if (journal.port(port) == nullptr) {
        const auto slot = TEAMO_TRY(entries_.slot_for(link));
        std::vector<DeviceAddress> addresses;
        if (!is_guest) addresses = TEAMO_TRY(read_addresses(context_.shared.requests, link.index));
        auto before = entries_.begin(link, slot);
        devices_.note_addresses(link, addresses, before, /*warns=*/!refusals_.has(key_of(link))); // once
        journal.edit().ports.push_back(std::move(before));
    }
    auto* was = journal.port(port);
    was->name = key_of(link);
    const auto key = was->name;
    const auto config = config_of(key);
    auto done = journal.keep();
    if (done) done = devices_.add_to_team(link, config, *was);
    if (!done) {
        subsystems_.offloads->remove(port);
        if (const auto now = context_.observer->read_now(port); !now && now.error().number == ENODEV) {
            entries_.mark_away(); // its settings are known when it returns
            context_.programs->forget(port);
            return done;
        }
        was->state = PortState::leaving;
        static_cast<void>(finish_leaving(port)); // the first failure is returned
        return done;
    }
    was->state = PortState::joined;
    // A slave of a bond of others carries already.
    const PortWatch::Start start{.up = is_guest && link.has_link(), .losses = link.carrier_losses};
    std::erase_if(journal.edit().removed_by_hand,
                  [&](const std::string& one) { return one == key || link.has_name(one); });
    for (const auto& one : {key, link.name}) {
        awaited_.erase(one);
        refusals_.forget(one);
    }
    ports_.push_back({.index = port,
                      .slot = was->slot,
                      .key = key,
                      .name = link.name,
                      .config = config,
                      .watch = make_watch(config, start),
                      .damping = damping_of(config, *was)});
    // The next pass tries again after a failure; until then a new daemon would only repeat the join, which
    // does no harm.
    static_cast<void>(journal.keep());
    context_.log.port(Level::info, link.name, " joined");
    static_cast<void>(context_.observer->read_now(port)); // events from before its last setting show less
    return {};
}

/// A slave that an earlier daemon had keeps what is noted of it. One that has left the bond meanwhile is
/// restored.
void PortSet::join_slaves() {
    auto& noted = context_.journal.edit().ports;
    subsystems_.offloads->end_leftover_trials(noted);
    for (auto& port : noted) {
        const auto* link = context_.link(port.index);
        const bool is_it = link != nullptr && (link->has_name(port.name) ||
                                               (link->permanent_address == port.address)); // it was renamed
        if (!is_it) { // its device is gone; by its name it has its slot again
            port.state = PortState::away;
            port.index = {};
        } else {
            port.state = link->master == context_.device.team ? PortState::joining : PortState::leaving;
        }
    }
    for (const auto& port : std::vector(noted)) {
        const auto done = port.state == PortState::joining   ? join(port.index)
                          : port.state == PortState::leaving ? finish_leaving(port.index)
                                                             : Result<>();
        if (!done) context_.log(Level::warning, fmt::format("port {}: {}", port.name, done.error().text));
    }
    join_added_by_others();
}

void PortSet::guard() {
    for (const auto& port : ports_)
        if (auto* before = context_.journal.port(port.index)) devices_.guard(*before);
    subsystems_.guard->poll();
}

void PortSet::attach_all() {
    for (const auto& port : ports_)
        unattached_[port.index] = {};
    attach_rest();
}

void PortSet::attach_refused() {
    for (auto& [port, unattached] : unattached_)
        unattached = {};
    attach_rest();
}

bool PortSet::has_unattached() const {
    return std::ranges::any_of(unattached_, [](const auto& entry) { return entry.second.again; });
}

void PortSet::attach_rest() {
    for (const auto& port : ports_) {
        const auto rest = unattached_.find(port.index);
        // A device that is gone leaves in the next pass.
        if (rest == unattached_.end() || !rest->second.again) continue;
        if (context_.journal.port(port.index) == nullptr) continue;
        if (const auto attached = attach_adopted(port.index); !attached)
            note_unattached(port, attached.error());
        else
            unattached_.erase(rest);
    }
}

void PortSet::note_unattached(const TeamPort& port, const Error& error) {
    auto& [failure, again] = unattached_[port.index];
    again = is_passing(error);
    failure(context_.log, Level::error, fmt::format("port {}: ", port.name), error.text);
}

void PortSet::poll_guard() {
    for (const auto& port : ports_)
        if (auto* before = context_.journal.port(port.index);
            before != nullptr && subsystems_.guard->is_due(port.index))
            devices_.guard(*before);
    subsystems_.guard->poll();
}

// ---- ports of an earlier daemon ------------------------------------------------------------------
// They may be incomplete. An entry of its journal is valid only for a device that has the team's mark now,
// because the kernel reuses interface indexes.

Result<> PortSet::clear_leftovers() {
    auto& journal = context_.journal;
    auto read = TEAMO_TRY(journal.read());
    auto& ports = journal.edit().ports;
    if (read) {
        ports = std::move(read->ports);
        journal.workers() = std::move(read->workers); // in each file that is written before they are released
        journal.workers().by_hand.clear();            // requests to the former team
    }
    entries_.forget_reused_indexes(ports);
    entries_.mark_away();
    subsystems_.offloads->end_leftover_trials(ports);
    for (const auto& [index, link] : context_.links())
        if (const auto slot = context_.marked_slot(link); slot && journal.port(index) == nullptr)
            ports.push_back(entries_.begin(link, *slot));
    for (auto& port : ports)
        if (port.state != PortState::away) port.state = PortState::leaving;
    std::size_t left = 0;
    for (const auto& port : std::vector(ports)) {
        if (port.state != PortState::leaving) continue;
        ++left;
        if (auto finished = finish_leaving(port.index); !finished)
            context_.log(Level::warning, fmt::format("port {}: {}", port.name, finished.error().text));
    }
    if (left != 0)
        context_.log(Level::notice, fmt::format("restored {} ports of an earlier team of this name", left));
    if (read) release_workers(journal.workers(), context_.log);
    if (ports.empty() && journal.workers().empty()) journal.remove_file();
    journal.forget_file();
    context_.observer->catch_up();
    return {};
}

void PortSet::adopt(std::vector<PortBefore> noted) {
    entries_.forget_reused_indexes(noted);
    auto& journal = context_.journal;
    auto& ports = journal.edit().ports;
    const auto stays = [&](const PortBefore& port, const Link* link) {
        return link != nullptr && entries_.is_ours(*link) && port.state == PortState::joined &&
               !entries_.has_left(*link);
    };
    const auto was_away = [&noted](const PortBefore& port) {
        return std::ranges::any_of(noted, [&port](const PortBefore& one) {
            return one.state == PortState::away && one.slot == port.slot && one.name == port.name;
        });
    };
    const bool others_carry = std::ranges::any_of(noted, [&](const PortBefore& port) {
        const auto* link = context_.link(port.index);
        return stays(port, link) && link->has_link() && !has_bounced(port, *link);
    });
    for (const auto& port : noted) {
        const auto* link = context_.link(port.index);
        if (link == nullptr || port.state != PortState::joined) {
            ports.push_back(port); // valid again when the device returns; or for finish_begun()
        } else if (entries_.has_left(*link) && entries_.was_moved(port, *link)) {
            ports.push_back(port); // it joins again
            ports.back().index = {};
        } else if (entries_.has_left(*link)) {
            // Removed while no daemon ran: undo our settings on it.
            note_removed(*link, port.name);
            std::vector removed{port};
            subsystems_.offloads->end_leftover_trials(removed);
            if (auto released = devices_.restore(removed.front(), /*removed_by_others=*/true, team_goes_on());
                !released && is_passing(released.error())) {
                ports.push_back(removed.front()); // for finish_begun()
                ports.back().state = PortState::leaving;
            }
        } else {
            adopt_port(port, *link, others_carry);
        }
    }
    entries_.mark_away();
    for (const auto& [index, link] : context_.links()) {
        const auto slot = context_.marked_slot(link);
        if (!slot || journal.port(index) != nullptr) continue;
        if (entries_.has_left(link)) continue;
        // It returned to the earlier daemon too, which did not make it a port. It joins if it is configured.
        if (const auto* away = entries_.away_entry(link); away != nullptr && was_away(*away)) continue;
        auto port = entries_.begin(link, *slot);
        port.state = PortState::joined;
        adopt_port(port, link, others_carry);
    }
}

void PortSet::adopt_port(const PortBefore& port, const Link& link, bool others_carry) {
    context_.journal.edit().ports.push_back(port);
    const auto configured = configured_name(context_.config(), link);
    const auto key = configured.empty() ? port.name : configured;
    const auto config = config_of(key);
    // The last port with a link carries already, and goes on.
    const bool up = link.has_link() && !(others_carry && has_bounced(port, link));
    ports_.push_back({.index = link.index,
                      .slot = port.slot,
                      .key = key,
                      .name = link.name,
                      .config = config,
                      .watch = make_watch(config, {.up = up,
                                                   .unanswered = others_carry && port.unanswered,
                                                   .losses = link.carrier_losses}),
                      .damping = damping_of(config, port),
                      .modes_losses = link.carrier_losses,
                      .had_link = link.has_link()});
    read_modes(ports_.back());
}

Result<> PortSet::attach_adopted(IfIndex port) {
    auto& before = *context_.journal.port(port);
    // Without a program of ours it was in another namespace: it came back down, and with IPv6. A second
    // attempt finds the program.
    const bool lacks_program = TEAMO_TRY(context_.datapath->lacks_program(port));
    const bool was_away = lacks_program || before.taken_down;
    const auto* link = context_.link(port);
    if (!was_away || link == nullptr || context_.datapath->kernel_manages_ports())
        return devices_.attach(before);
    if (lacks_program) before.made_clsact = false; // it was removed
    // Once the program is there the next daemon cannot see that the device was away: it must read it.
    TEAMO_TRY(note_taken_down(context_, &before, !link->is_up()));
    TEAMO_TRY(devices_.make_port(*link, before));
    return note_taken_down(context_, &before, false);
}

void PortSet::adopt_offloads() {
    auto& offloads = *subsystems_.offloads;
    for (const auto& port : ports_) {
        // It carries already, so a port that lacks an offload is not refused any more.
        auto contract = port.config.offload;
        if (contract.lacking == Lacking::refuse) contract.lacking = Lacking::demote;
        auto* was = context_.journal.port(port.index);
        if (auto added = offloads.add(*context_.link(port.index), contract, was->offloads); !added)
            context_.log(Level::warning, fmt::format("port {}: {}", port.name, added.error().text));
        if (auto kept = offloads.kept(port.index); !kept.empty()) was->offloads = std::move(kept);
    }
}

void PortSet::finish_begun() {
    for (const auto& port : std::vector(context_.journal.now().ports)) {
        if (port.state == PortState::leaving) static_cast<void>(finish_leaving(port.index));
        if (port.state != PortState::joining) continue;
        context_.log(
            Level::notice,
            fmt::format("port {}: an earlier daemon did not finish adding it; adding it now", port.name));
        if (auto joined = join(port.index); !joined) {
            awaited_.insert(port.name);
            refusals_.note(port.name, port.index, joined.error());
        }
    }
}

} // namespace teamo
