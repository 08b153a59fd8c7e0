// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Ports come and go: by configuration, by hand, and by appearing and vanishing.
#include "team/team.h"

#include "model/marks.h"
#include "plan/team/membership.h"
#include "team/port_device.h"

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
    const auto is_taken = [this](Slot slot) {
        return std::ranges::any_of(journal_.ports, [slot](const PortBefore& port) {
            return port.state != PortState::away && port.slot == slot;
        });
    };
    for (std::uint8_t number = 1; number <= max_ports; ++number)
        if (!is_taken(Slot{number})) return Slot{number};
    return fail(E2BIG, fmt::format("the team has {} ports, which is the most", max_ports));
}

/// With the team driver the device itself says whose port it is.
bool Team::is_slave(const Link& link) const {
    return datapath_->kernel_manages_ports() && device_.team && link.master == device_.team;
}

/// What the journal says counts only for such a device.
bool Team::is_ours(const Link& link) const {
    const auto mark = port_mark_of(link);
    return is_slave(link) || (mark && mark->team == name());
}

/// What a device was like before us. One that was away, as in a container's namespace, comes back as we left
/// it.
PortBefore Team::begin(const Link& link, Slot slot) {
    const auto mark = port_mark_of(link);
    const bool marked = mark && mark->team == name();
    auto before = marked ? remember_marked(link, slot) : remember(link, slot);
    const auto away = std::ranges::find_if(journal_.ports, [&link](const PortBefore& port) {
        return port.state == PortState::away && port.name == link.name;
    });
    if (away == journal_.ports.end()) return before;
    if (marked) { // its marks went with it (net/core/dev.c: __dev_change_net_namespace)
        before.address = away->address;
        before.mtu = away->mtu;
        before.flags = away->flags;
        before.disable_ipv6 = away->disable_ipv6;
        before.features = away->features;
        before.offloads = away->offloads;
        before.ipv6_addresses = away->ipv6_addresses;
        for (auto& address : before.ipv6_addresses)
            address.device = link.index;
    }
    journal_.ports.erase(away);
    return before;
}

/// Begins, or goes on with what an earlier daemon began.
Result<> Team::join(IfIndex port) {
    // Marks and names of a device that is down change without an event.
    const auto read = observer_->read_now(port);
    if (!read) return tl::unexpected(read.error());
    const auto& link = *read;
    const auto* team = find_link(observer_->links(), device_.team);
    if (team == nullptr) return fail(ENODEV, "the team's device is gone");
    if (auto may = may_join(observer_->links(), link, name()); !may) return may;
    if (const auto* known = before(port); known != nullptr && known->state == PortState::leaving) {
        if (auto settled = settle(port); !settled) return settled;
        return join(port);
    }
    // The first port of an empty team gives it its address, unless the configuration has one (teamd: hwaddr).
    if (ports_.empty() && !configuration_.team.hwaddr && before(port) == nullptr &&
        team->address != link.address) {
        if (auto done = control_.set_address(device_.team, link.address); !done) return done;
        observer_->edit(device_.team)->address = link.address;
    }
    if (before(port) == nullptr) {
        const auto slot = free_slot();
        if (!slot) return tl::unexpected(slot.error());
        journal_.ports.push_back(begin(link, *slot));
        note_addresses(link, journal_.ports.back());
    }
    auto config = config_of(link.name);
    auto* was = before(port);
    auto done = keep_journal();
    if (done) done = take_in(link, config, *was);
    if (!done) {
        offloads_->remove(port);
        was->state = PortState::leaving;
        static_cast<void>(settle(port)); // the first failure is returned
        return done;
    }
    was->state = PortState::joined;
    std::erase(journal_.removed_by_hand, link.name);
    awaited_.erase(link.name);
    refused_ports_.erase(link.name);
    PortWatch watch(config.link_watches, configuration_.team.link_watch_policy, /*up=*/false);
    ports_.push_back({.index = port,
                      .slot = was->slot,
                      .name = link.name,
                      .config = std::move(config),
                      .watch = std::move(watch),
                      .modes = {},
                      .had_link = false});
    // One that fails is tried again with the next pass; finishing once more what is finished does no harm.
    static_cast<void>(keep_journal());
    log_(Level::info, fmt::format("port {} joined", link.name), message_id::none, {{"PORT", link.name}});
    observer_->catch_up();
    return {};
}

Result<> Team::take_in(const Link& link, const PortConfig& config, PortBefore& before) {
    const auto* team = find_link(observer_->links(), device_.team);
    const auto* backup = std::get_if<ActiveBackupRunner>(&configuration_.team.runner);
    const bool same_all = backup == nullptr || backup->hwaddr_policy == HwaddrPolicy::same_all;
    const auto address = same_all ? std::optional(team->address) : std::nullopt;
    const auto mtu = team->mtu;
    if (auto marked = mark_port(control_, name(), link, before.slot); !marked) return marked;
    // While it does not carry yet: some drivers reset the card for it.
    auto contract = config.offload;
    // One that carries already, in a team that is taken over, is not thrown out.
    if (link.master == device_.team && contract.lacking == Lacking::refuse)
        contract.lacking = Lacking::demote;
    if (auto added = offloads_->add(link, contract, before.offloads); !added) return added;
    before.offloads = offloads_->kept(link.index);
    return make_port(control_, *datapath_, link, mtu, address, before, [this] { return keep_journal(); });
}

Result<> Team::leave(IfIndex port) {
    const auto found = std::ranges::find(ports_, port, &Port::index);
    if (found == ports_.end()) return fail(ENODEV, "is no port of the team");
    const auto name_there = found->name;
    trial_->end(port);
    if (auto* was = before(port)) was->state = PortState::leaving;
    ports_.erase(found);
    offloads_->remove(port); // what is put back now is not put right
    pass();                  // its buckets are with the others before it stops
    if (before(port) == nullptr) return {};
    auto settled = settle(port);
    log_(Level::info, fmt::format("port {} left", name_there), message_id::none, {{"PORT", name_there}});
    if (settled || !leaving_.contains(port)) return settled;
    log_(Level::warning,
         fmt::format("port {}: {}; it is tried again", name_there, std::move(settled.error().text)));
    return {};
}

/// A port that is leaving is put back, and forgotten. What is refused and may pass is tried again (leaving_).
Result<> Team::settle(IfIndex port) {
    const auto* was = before(port);
    if (was == nullptr) {
        leaving_.erase(port);
        return {};
    }
    const auto now = observer_->read_now(port);
    Result<> settled;
    if (now && is_ours(*now))
        settled = now->master && now->master != device_.team ? let_go(*was) : put_back(*was);
    else if (!now && now.error().number != ENODEV)
        settled = tl::unexpected(now.error());
    if (!settled && is_passing(settled.error())) {
        leaving_[port].refused(Clock::now());
        return settled;
    }
    std::erase_if(journal_.ports, [port](const PortBefore& entry) { return entry.index == port; });
    leaving_.erase(port);
    static_cast<void>(keep_journal()); // said by keep_journal's other callers; the port is out either way
    static_cast<void>(observer_->read_now(port));
    return settled;
}

void Team::settle_due() {
    const auto now = Clock::now();
    for (const auto& [port, patience] : std::map(leaving_))
        if (patience.is_over(now)) static_cast<void>(settle(port));
}

/// A device that is gone needs nothing put back now; what it was like is kept for when it comes back. A
/// configured one is waited for under the same name.
void Team::drop_vanished() {
    const auto gone = [this](IfIndex port) { return find_link(observer_->links(), port) == nullptr; };
    for (const auto& port : ports_) {
        if (!gone(port.index)) continue;
        log_(Level::warning, fmt::format("port {}: its device is gone", port.name));
        trial_->end(port.index);
        offloads_->remove(port.index);
        const auto& configured = configuration_.team.ports;
        if (std::ranges::any_of(configured, [&port](const auto& entry) { return entry.first == port.name; }))
            awaited_.insert(port.name);
    }
    std::erase_if(ports_, [&gone](const Port& port) { return gone(port.index); });
    std::erase_if(leaving_, [&gone](const auto& entry) { return gone(entry.first); });
    send_away(journal_.ports, gone);
}

/// With the team driver a port is whoever has the team for its master, and others may say so too (ip link set
/// PORT master TEAM, NetworkManager): what they bring is taken in, what they take is let go.
void Team::follow_masters() {
    if (!datapath_->kernel_manages_ports()) return;
    std::vector<IfIndex> gone;
    for (const auto& port : journal_.ports)
        if (const auto* link = find_link(observer_->links(), port.index);
            link != nullptr && link->master != device_.team && port.state == PortState::joined)
            gone.push_back(port.index);
    for (const auto port : gone) {
        auto* was = before(port);
        log_(Level::notice, fmt::format("port {} was taken out by somebody else", was->name));
        offloads_->remove(port);
        trial_->end(port);
        std::erase_if(ports_, [port](const Port& one) { return one.index == port; });
        journal_.removed_by_hand.push_back(was->name);
        if (auto released = let_go(*was); !released) {
            log_(Level::warning, fmt::format("port {}: {}", was->name, released.error().text));
            if (is_passing(released.error())) {
                was->state = PortState::leaving;
                leaving_[port].refused(Clock::now());
                continue;
            }
        }
        std::erase_if(journal_.ports, [port](const PortBefore& one) { return one.index == port; });
    }
    std::vector<Link> come;
    for (const auto& [index, link] : observer_->links())
        if (link.master == device_.team && before(index) == nullptr && is_worth_trying(link.name, link))
            come.push_back(link);
    for (const auto& link : come)
        if (auto joined = join(link.index); !joined) note_refusal(link.name, joined.error());
}

/// Said once, and tried again when it may have passed, or when somebody has let the device go.
void Team::note_refusal(const std::string& port, const Error& refusal) {
    auto& noted = refused_ports_[port];
    if (noted.said != refusal.text)
        log_(Level::warning, fmt::format("port {}: {}", port, noted.said = refusal.text));
    if (const auto* link = find_link(observer_->links(), port)) noted.seen = {link->master, link->altnames};
    await_passing(noted.patience, is_passing(refusal), Clock::now());
    // Each try may take the device down for who uses it.
    if (noted.patience && noted.patience->times() >= Patience::many) noted.patience.reset();
}

bool Team::is_worth_trying(const std::string& port, const Link& link) const {
    const auto noted = refused_ports_.find(port);
    if (noted == refused_ports_.end()) return true;
    const auto& [seen, said, patience] = noted->second;
    return seen != std::pair(link.master, link.altnames) || (patience && patience->is_over(Clock::now()));
}

void Team::join_awaited() {
    // Who is not waited for any more is not tried again.
    std::erase_if(refused_ports_, [this](const auto& entry) {
        const auto* link = find_link(observer_->links(), entry.first);
        if (link == nullptr) return true;
        const bool comes_by_itself = is_slave(*link) && before(link->index) == nullptr; // follow_masters()
        return !awaited_.contains(entry.first) && !comes_by_itself;
    });
    for (const auto& port : std::set(awaited_)) {
        const auto* link = find_link(observer_->links(), port);
        if (link == nullptr || !is_worth_trying(port, *link)) continue;
        if (auto joined = join(link->index); !joined) note_refusal(port, joined.error());
    }
}

} // namespace teamo
