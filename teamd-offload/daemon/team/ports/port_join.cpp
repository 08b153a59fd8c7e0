// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How a device becomes a port of the team: it joins, or was a port under an earlier daemon.
#include "daemon/cpus/worker_subsystem.h"
#include "daemon/team/ports/port_set.h"
#include "kernel/netlink/addresses.h"
#include "model/observation.h"
#include "plan/team/membership.h"

#include <linux/if_addr.h>

#include <algorithm>

namespace teamo {
namespace {

/// True if the link was lost and has returned while no daemon ran, and its watches would have delayed that.
bool has_bounced(const PortBefore& port, const Link& link) {
    return port.carrier_losses.value_or(link.carrier_losses) != link.carrier_losses;
}

} // namespace

/// With the kernel's drivers a device's master shows which team it belongs to.
bool PortSet::is_slave(const Link& link) const {
    const auto& device = context_.device;
    return context_.datapath->kernel_manages_ports() && device.team && link.master == device.team;
}

/// An entry of the journal is valid only for such a device.
bool PortSet::is_ours(const Link& link) const { return is_slave(link) || context_.marked_slot(link); }

/// Indexes are reused: an entry is that of another device if the device lacks the team's mark, or has that of
/// another slot. A port that is joining may not have it yet, or that of its former slot. The device of such
/// an entry is elsewhere; it may return.
void PortSet::forget_reused_indexes(std::vector<PortBefore>& ports) const {
    for (auto& port : ports) {
        const auto* link = context_.link(port.index);
        if (link == nullptr) continue;
        const auto slot = context_.marked_slot(*link);
        if (port.state == PortState::joining ? !is_ours(*link) : slot != port.slot) {
            if (!slot && port.state == PortState::joined)
                context_.log(
                    Level::warning,
                    fmt::format("port {}: device {} does not have the mark {}: it counts as another device",
                                port.name, link->name, port_mark(context_.name(), port.slot)));
            port.index = {};
        }
    }
}

/// A device that was in another network namespace has lost our settings, and nobody uses it. One that another
/// program removed from the team keeps them.
bool PortSet::was_moved(const PortBefore& port, const Link& link) const {
    if (link.master || link.is_up()) return false;
    const bool lost_ipv6 = port.disable_ipv6 == false && read_disable_ipv6(link.name) == false;
    return lost_ipv6 || context_.datapath->lacks_program(port.index).value_or(false);
}

/// Another program has removed the port, or has made it a port of something else.
bool PortSet::has_left(const Link& link) const {
    return link.master != (context_.datapath->kernel_manages_ports() ? context_.device.team : IfIndex{});
}

bool PortSet::is_added_by_others(const Link& link) const {
    return is_slave(link) && context_.journal.port(link.index) == nullptr;
}

/// The entry of the port that this device was before it was away. Its mark shows that, also if it was renamed
/// meanwhile; without a mark it is another device, which replaces the port of its name. Two entries may have
/// the same slot, of which the one with its name is chosen.
const PortBefore* PortSet::away_entry(const Link& link) const {
    const auto slot = context_.marked_slot(link);
    const auto likeness = [&](const PortBefore& entry) {
        if (entry.state != PortState::away) return 0;
        return (slot == entry.slot ? 2 : 0) + (link.has_name(entry.name) ? 1 : 0);
    };
    const auto best = std::ranges::max_element(context_.journal.now().ports, {}, likeness);
    return best == context_.journal.now().ports.end() || likeness(*best) == 0 ? nullptr : &*best;
}

/// A port that was away gets its former slot, which others get only when there is no other.
Result<Slot> PortSet::slot_for(const Link& link) const {
    const auto* away = away_entry(link);
    SlotSet taken = 0, kept = 0;
    for (const auto& entry : context_.journal.now().ports) {
        if (entry.state != PortState::away)
            taken |= bit(entry.slot);
        else if (&entry != away)
            kept |= bit(entry.slot);
    }
    if (away != nullptr && (taken & bit(away->slot)) == 0) return away->slot;
    for (const SlotSet avoided : {static_cast<SlotSet>(taken | kept), taken})
        for (std::uint8_t number = 1; number <= max_ports; ++number)
            if ((avoided & bit(Slot{number})) == 0) return Slot{number};
    return fail(E2BIG, fmt::format("the team has {} ports, which is the maximum", max_ports));
}

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
    TEAMO_TRY(may_join(context_.links(), link, context_.name(), takes()));
    if (journal.port(port) == nullptr && !context_.datapath->kernel_manages_ports())
        if (const auto unicast = read_unicast_list(port)) TEAMO_TRY(has_no_user_elsewhere(link, *unicast));
    if (const auto* known = journal.port(port); known != nullptr && known->state == PortState::leaving) {
        TEAMO_TRY(finish_leaving(port));
        return join(port);
    }
    if (ports_.empty() && journal.port(port) == nullptr) TEAMO_TRY(prepare_address(link));
    if (journal.port(port) == nullptr) {
        const auto slot = TEAMO_TRY(slot_for(link));
        auto before = begin(link, slot);
        note_addresses(link, before);
        journal.edit().ports.push_back(std::move(before));
    }
    auto* was = journal.port(port);
    was->name = key_of(link);
    const auto key = was->name;
    const auto config = config_of(key);
    auto done = journal.keep();
    if (done) done = add_to_team(link, config, *was);
    if (!done) {
        subsystems_.offloads->remove(port);
        if (const auto now = context_.observer->read_now(port); !now && now.error().number == ENODEV) {
            mark_away(); // its settings are known when it returns
            return done;
        }
        was->state = PortState::leaving;
        static_cast<void>(finish_leaving(port)); // the first failure is returned
        return done;
    }
    was->state = PortState::joined;
    std::erase_if(journal.edit().removed_by_hand,
                  [&](const std::string& one) { return one == key || link.has_name(one); });
    for (const auto& one : {key, link.name}) {
        awaited_.erase(one);
        refused_.erase(one);
    }
    ports_.push_back({.index = port,
                      .slot = was->slot,
                      .key = key,
                      .name = link.name,
                      .config = config,
                      .watch = make_watch(config, {})});
    // The next pass tries again after a failure; until then a new daemon would only repeat the join, which
    // does no harm.
    static_cast<void>(journal.keep());
    context_.log(Level::info, fmt::format("port {} joined", link.name), message_id::none,
                 {{"PORT", link.name}});
    static_cast<void>(context_.observer->read_now(port)); // events from before its last setting show less
    return {};
}

Result<> PortSet::add_to_team(const Link& link, const PortConfig& config, PortBefore& before) {
    TEAMO_TRY(mark(link, before.slot));
    // Before it carries, because some drivers reset the card.
    auto contract = config.offload;
    // A port that carries already (a team taken over with -o) is not refused any more.
    if (link.master == context_.device.team && contract.lacking == Lacking::refuse)
        contract.lacking = Lacking::demote;
    TEAMO_TRY(subsystems_.offloads->add(link, contract, before.offloads));
    before.offloads = subsystems_.offloads->kept(link.index);
    return make_port(link, before);
}

/// The first port of an empty team gives it its address, unless the configuration has one (teamd: hwaddr).
/// An empty bond has lost its own, and would take the port's.
Result<> PortSet::prepare_address(const Link& first) {
    const auto device = context_.device.team;
    auto now = context_.team()->address;
    if (context_.device.kind == bond_kind) now = TEAMO_TRY(context_.observer->read_now(device)).address;
    const auto wanted = context_.config().hwaddr ? context_.bond_address.value_or(now) : first.address;
    if (now == wanted) return {};
    TEAMO_TRY(context_.control.set_address(device, wanted));
    context_.observer->edit(device)->address = wanted;
    return {};
}

/// Called before the device is changed: disable_ipv6 will remove all its IPv6 addresses, static ones too.
void PortSet::note_addresses(const Link& link, PortBefore& port) {
    const auto addresses = read_addresses();
    if (!addresses) {
        context_.log(Level::warning, fmt::format("port {}: {}", link.name, addresses.error().text));
        return;
    }
    std::string own;
    for (const auto& address : *addresses) {
        // The kernel makes link-local ones itself, now and afterwards.
        if (address.device != link.index || address.ip.is_link_local()) continue;
        own += fmt::format("{}{}", own.empty() ? "" : ", ", text_of(address.ip));
        if (!address.ip.ipv6 || (address.flags & IFA_F_PERMANENT) == 0 || port.disable_ipv6 != false)
            continue;
        // The kernel lists the latest first, and prefers it if nothing else decides.
        const auto first = port.ipv6_addresses.insert(port.ipv6_addresses.begin(), address);
        first->tentative = false;
    }
    if (!own.empty() && !refused_.contains(key_of(link))) // not with each try
        context_.log(
            Level::warning,
            fmt::format("port {}: has addresses of its own ({}), which do not work while it is a port; give "
                        "them to {}",
                        link.name, own, context_.name()));
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
    forget_reused_indexes(ports);
    mark_away();
    subsystems_.offloads->end_leftover_trials(ports);
    for (const auto& [index, link] : context_.links())
        if (const auto slot = context_.marked_slot(link); slot && journal.port(index) == nullptr)
            ports.push_back(begin(link, *slot));
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
    forget_reused_indexes(noted);
    auto& journal = context_.journal;
    auto& ports = journal.edit().ports;
    const auto stays = [&](const PortBefore& port, const Link* link) {
        return link != nullptr && is_ours(*link) && port.state == PortState::joined && !has_left(*link);
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
        } else if (has_left(*link) && was_moved(port, *link)) {
            ports.push_back(port); // it joins again
            ports.back().index = {};
        } else if (has_left(*link)) {
            // Removed while no daemon ran: undo our settings on it.
            note_removed(*link, port.name);
            std::vector removed{port};
            subsystems_.offloads->end_leftover_trials(removed);
            if (auto released = restore(removed.front(), /*removed_by_others=*/true);
                !released && is_passing(released.error())) {
                ports.push_back(removed.front()); // for finish_begun()
                ports.back().state = PortState::leaving;
            }
        } else {
            adopt_port(port, *link, others_carry);
        }
    }
    mark_away();
    for (const auto& [index, link] : context_.links()) {
        const auto slot = context_.marked_slot(link);
        if (!slot || journal.port(index) != nullptr) continue;
        if (has_left(link)) continue;
        // It returned to the earlier daemon too, which did not make it a port. It joins if it is configured.
        if (const auto* away = away_entry(link); away != nullptr && was_away(*away)) continue;
        auto port = begin(link, *slot);
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
    if (!was_away || link == nullptr || context_.datapath->kernel_manages_ports()) return attach(before);
    if (lacks_program) before.made_clsact = false; // it was removed
    // Once the program is there the next daemon cannot see that the device was away: it must read it.
    TEAMO_TRY(note_taken_down(context_, &before, !link->is_up()));
    TEAMO_TRY(make_port(*link, before));
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
            note_refusal(port.name, port.index, joined.error());
        }
    }
}

} // namespace teamo
