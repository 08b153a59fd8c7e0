// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How a device becomes a port of the team.
#include "model/observation.h"
#include "plan/team/membership.h"
#include "team/ports/port_device.h"
#include "team/ports/port_set.h"

#include <linux/if_addr.h>

#include <algorithm>

namespace teamo {

/// With the team driver a device's master shows which team it belongs to.
bool PortSet::is_slave(const Link& link) const {
    const auto& device = context_.device;
    return context_.datapath->kernel_manages_ports() && device.team && link.master == device.team;
}

/// An entry of the journal is valid only for such a device.
bool PortSet::is_ours(const Link& link) const {
    const auto mark = port_mark_of(link);
    return is_slave(link) || (mark && mark->team == context_.name());
}

Result<Slot> PortSet::free_slot() const {
    const auto is_taken = [this](Slot slot) {
        return std::ranges::any_of(context_.journal.ports(), [slot](const PortBefore& port) {
            return port.state != PortState::away && port.slot == slot;
        });
    };
    for (std::uint8_t number = 1; number <= max_ports; ++number)
        if (!is_taken(Slot{number})) return Slot{number};
    return fail(E2BIG, fmt::format("the team has {} ports, which is the maximum", max_ports));
}

/// The state of a device before it joined. A port that was away, for example in a container's namespace,
/// comes back as we left it.
PortBefore PortSet::begin(const Link& link, Slot slot) {
    const auto mark = port_mark_of(link);
    const bool marked = mark && mark->team == context_.name();
    auto before = marked ? remember_marked(link, slot) : remember(link, slot);
    auto& ports = context_.journal.edit_ports();
    const auto away = std::ranges::find_if(ports, [&link](const PortBefore& port) {
        return port.state == PortState::away && port.name == link.name;
    });
    if (away == ports.end()) return before;
    if (marked) { // it kept its marks (net/core/dev.c: __dev_change_net_namespace)
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
    ports.erase(away);
    return before;
}

Result<> PortSet::join(IfIndex port) {
    // Marks and names of a device that is down change without an event.
    const auto read = TEAMO_TRY(context_.observer->read_now(port));
    const auto& link = read;
    auto& journal = context_.journal;
    const auto* team = context_.team();
    if (team == nullptr) return fail(ENODEV, "the team's device is gone");
    TEAMO_TRY(may_join(context_.links(), link, context_.name()));
    if (const auto* known = journal.port(port); known != nullptr && known->state == PortState::leaving) {
        TEAMO_TRY(finish_leaving(port));
        return join(port);
    }
    // The first port of an empty team gives it its address, unless the configuration has one (teamd: hwaddr).
    if (ports_.empty() && !context_.config().hwaddr && journal.port(port) == nullptr &&
        team->address != link.address) {
        TEAMO_TRY(context_.control.set_address(context_.device.team, link.address));
        context_.observer->edit(context_.device.team)->address = link.address;
    }
    if (journal.port(port) == nullptr) {
        const auto slot = TEAMO_TRY(free_slot());
        auto before = begin(link, slot);
        note_addresses(link, before);
        journal.edit_ports().push_back(std::move(before));
    }
    auto config = config_of(link.name);
    auto* was = journal.port(port);
    auto done = journal.keep();
    if (done) done = add_to_team(link, config, *was);
    if (!done) {
        subsystems_.offloads->remove(port);
        was->state = PortState::leaving;
        static_cast<void>(finish_leaving(port)); // the first failure is returned
        return done;
    }
    was->state = PortState::joined;
    journal.forget_removed(link.name);
    awaited_.erase(link.name);
    refused_.erase(link.name);
    PortWatch watch(config.link_watches, context_.config().link_watch_policy, /*up=*/false);
    ports_.push_back({.index = port,
                      .slot = was->slot,
                      .name = link.name,
                      .config = std::move(config),
                      .watch = std::move(watch),
                      .modes = {},
                      .had_link = false});
    // The next pass tries again after a failure; until then a new daemon would only repeat the join, which
    // does no harm.
    static_cast<void>(journal.keep());
    context_.log(Level::info, fmt::format("port {} joined", link.name), message_id::none,
                 {{"PORT", link.name}});
    context_.observer->catch_up();
    return {};
}

Result<> PortSet::add_to_team(const Link& link, const PortConfig& config, PortBefore& before) {
    const auto* team = context_.team();
    const auto* backup = std::get_if<ActiveBackupRunner>(&context_.config().runner);
    const bool same_all = backup == nullptr || backup->hwaddr_policy == HwaddrPolicy::same_all;
    const auto address = same_all ? std::optional(team->address) : std::nullopt;
    const auto mtu = team->mtu;
    TEAMO_TRY(mark_port(context_.control, context_.name(), link, before.slot));
    // Before it carries, because some drivers reset the card.
    auto contract = config.offload;
    // A port that carries already (a team taken over with -o) is not refused any more.
    if (link.master == context_.device.team && contract.lacking == Lacking::refuse)
        contract.lacking = Lacking::demote;
    TEAMO_TRY(subsystems_.offloads->add(link, contract, before.offloads));
    before.offloads = subsystems_.offloads->kept(link.index);
    return make_port(context_.control, *context_.datapath, link, mtu, address, before,
                     [this] { return context_.journal.keep(); });
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
    if (!own.empty())
        context_.log(
            Level::warning,
            fmt::format("port {}: has addresses of its own ({}), which do not work while it is a port; give "
                        "them to {}",
                        link.name, own, context_.name()));
}

} // namespace teamo
