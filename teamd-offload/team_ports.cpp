// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Ports come and go: by configuration, by hand, and by appearing and vanishing.
#include "team.h"

#include "plan/membership.h"
#include "port_device.h"

#include <algorithm>

namespace teamo {

Team::Port* Team::find_port(std::string_view name) {
    // By the name the device has now; it may have been given another since it joined.
    const auto* link = find_link(observer_->links(), name);
    const auto found = std::ranges::find_if(ports_, [&](const Port& port) {
        return link != nullptr ? port.index == link->index : port.name == name;
    });
    return found == ports_.end() ? nullptr : &*found;
}

PortBefore* Team::before(IfIndex port) {
    const auto found = std::ranges::find(journal_.ports, port, &PortBefore::index);
    return found == journal_.ports.end() ? nullptr : &*found;
}

PortConfig Team::config_of(std::string_view port) const {
    const auto& configured = configuration_.team.ports;
    const auto found =
        std::ranges::find_if(configured, [port](const auto& entry) { return entry.first == port; });
    if (found != configured.end()) return found->second;
    PortConfig config;
    config.offload = configuration_.team.offload;
    if (!configuration_.team.link_watches.empty()) config.link_watches = configuration_.team.link_watches;
    return config;
}

Result<Slot> Team::free_slot() const {
    for (std::uint8_t number = 1; number <= max_ports; ++number)
        if (std::ranges::find(ports_, Slot{number}, &Port::slot) == ports_.end()) return Slot{number};
    return fail(ENOSPC, fmt::format("the team has {} ports, which is the most", max_ports));
}

Result<> Team::join(const Link& link) {
    if (auto may = may_join(observer_->links(), link, name()); !may) return may;
    const auto slot = free_slot();
    if (!slot) return tl::unexpected(slot.error());
    const auto* team = find_link(observer_->links(), device_.team);
    auto config = config_of(link.name);

    // The first port of an empty team gives it its address, unless the configuration has one (teamd: hwaddr).
    if (ports_.empty() && !configuration_.team.hwaddr && team->address != link.address) {
        if (auto done = control_.set_address(device_.team, link.address); !done) return done;
        observer_->edit(device_.team)->address = link.address;
    }
    const auto* backup = std::get_if<ActiveBackupRunner>(&configuration_.team.runner);
    const bool same_all = backup == nullptr || backup->hwaddr_policy == HwaddrPolicy::same_all;
    const auto address = same_all ? std::optional(team->address) : std::nullopt;

    journal_.ports.push_back(remember(link, *slot));
    note_addresses(link, journal_.ports.back());
    auto done = keep_journal();
    // While it does not carry yet: some drivers reset the card for it.
    auto contract = config.offload;
    // One that carries already, in a team that is taken over, is not thrown out.
    if (link.master == device_.team && contract.lacking == Lacking::refuse)
        contract.lacking = Lacking::demote;
    if (done) done = offloads_->add(link, contract, {});
    if (done) journal_.ports.back().offloads = offloads_->kept(link.index);
    if (done)
        done = make_port(control_, *datapath_, name(), link, team->mtu, address, journal_.ports.back(),
                         [this] { return keep_journal(); });
    if (!done) {
        offloads_->remove(link.index);
        static_cast<void>(put_back(journal_.ports.back())); // the first failure is told
        journal_.ports.pop_back();
        static_cast<void>(keep_journal());
        return done;
    }
    std::erase(journal_.removed_by_hand, link.name);
    PortWatch watch(config.link_watches, configuration_.team.link_watch_policy, /*up=*/false);
    ports_.push_back({.index = link.index,
                      .slot = *slot,
                      .name = link.name,
                      .config = std::move(config),
                      .watch = std::move(watch),
                      .modes = {},
                      .had_link = false});
    log_(Level::info, fmt::format("port {} joined", link.name), message_id::none, {{"PORT", link.name}});
    observer_->catch_up();
    return {};
}

Result<> Team::leave(IfIndex port) {
    const auto found = std::ranges::find(ports_, port, &Port::index);
    if (found == ports_.end()) return fail(ENODEV, "is no port of the team");
    const auto name_there = found->name;
    trial_->end(port);
    ports_.erase(found);
    offloads_->remove(port); // what is put back now is not put right
    pass();                  // its buckets are with the others before it stops
    const auto* was = before(port);
    if (was == nullptr) return {};
    auto restored = put_back(*was);
    std::erase_if(journal_.ports, [port](const PortBefore& entry) { return entry.index == port; });
    static_cast<void>(keep_journal()); // said by keep_journal's other callers; the port is out either way
    observer_->catch_up();
    log_(Level::info, fmt::format("port {} left", name_there), message_id::none, {{"PORT", name_there}});
    return restored;
}

/// A device that is gone needs nothing put back. A configured one is waited for under the same name.
void Team::forget_vanished() {
    const auto gone = [this](IfIndex port) { return find_link(observer_->links(), port) == nullptr; };
    for (const auto& port : ports_) {
        if (!gone(port.index)) continue;
        log_(Level::warning, fmt::format("port {}: its device is gone", port.name));
        trial_->end(port.index);
        const auto& configured = configuration_.team.ports;
        if (std::ranges::any_of(configured, [&port](const auto& entry) { return entry.first == port.name; }))
            awaited_.insert(port.name);
    }
    for (const auto& port : ports_)
        if (gone(port.index)) offloads_->remove(port.index);
    std::erase_if(ports_, [&gone](const Port& port) { return gone(port.index); });
    std::erase_if(journal_.ports, [&gone](const PortBefore& port) { return gone(port.index); });
}

/// With the team driver a port is whoever has the team for its master, and others may say so too (ip link set
/// PORT master TEAM, NetworkManager): what they bring is taken in, what they take is let go.
void Team::follow_masters() {
    if (!datapath_->tends_ports()) return;
    std::vector<PortBefore> gone;
    for (const auto& port : journal_.ports)
        if (const auto* link = find_link(observer_->links(), port.index);
            link != nullptr && link->master != device_.team)
            gone.push_back(port);
    for (const auto& port : gone) {
        log_(Level::notice, fmt::format("port {} was taken out by somebody else", port.name));
        offloads_->remove(port.index);
        trial_->end(port.index);
        std::erase_if(ports_, [&port](const Port& one) { return one.index == port.index; });
        std::erase_if(journal_.ports, [&port](const PortBefore& one) { return one.index == port.index; });
        journal_.removed_by_hand.push_back(port.name);
        if (auto released = let_go(port); !released)
            log_(Level::warning, fmt::format("port {}: {}", port.name, released.error().text));
    }
    std::vector<Link> come;
    for (const auto& [index, link] : observer_->links())
        if (link.master == device_.team && before(index) == nullptr) come.push_back(link);
    for (const auto& link : come)
        if (auto joined = join(link); !joined && refused_ports_.insert(link.name).second)
            log_(Level::warning, fmt::format("port {}: {}", link.name, joined.error().text));
}

void Team::join_appeared() {
    for (auto name = awaited_.begin(); name != awaited_.end();) {
        const auto* link = find_link(observer_->links(), *name);
        if (link == nullptr) refused_ports_.erase(*name);
        if (link == nullptr || refused_ports_.contains(*name)) {
            ++name;
            continue;
        }
        if (auto joined = join(Link(*link)); !joined) {
            log_(Level::warning, fmt::format("port {}: {}", *name, joined.error().text));
            refused_ports_.insert(*name);
            ++name;
        } else {
            name = awaited_.erase(name);
        }
    }
}

} // namespace teamo
