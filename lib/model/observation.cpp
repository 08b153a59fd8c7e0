// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/observation.h"

#include "model/device_index.h"

#include <fmt/format.h>
#include <linux/if.h>

#include <algorithm>

namespace teamo {
namespace {
constexpr std::string_view team_prefix = "teamo-team-", inner_prefix = "teamo-inner-",
                           port_prefix = "teamo-port-";
} // namespace

bool Link::is_up() const { return (flags & IFF_UP) != 0; }

bool Link::has_link() const {
    // LOWER_UP is the carrier at the time of the message; RUNNING is the operational state, which linkwatch
    // may update up to a second late. Without either one no packets pass.
    constexpr std::uint32_t all = IFF_UP | IFF_LOWER_UP | IFF_RUNNING;
    return (flags & all) == all;
}

bool Link::has_name(std::string_view one) const {
    return name == one || std::ranges::find(altnames, one) != altnames.end();
}

// net/core/link_watch.c, linkwatch_urgent_event(): events of devices on top of another one (dev_get_iflink)
// and of ports of a team or bond are reported at once. IFLA_LINK is absent if it equals the device's own
// index, except for a veth whose other end has that index in another namespace.
bool events_are_late(const Link& link) { return !link.master && (!link.lower || link.lower == link.index); }

bool loss_is_pending(const Link& link) {
    // linkwatch clears RUNNING.
    return (link.flags & (IFF_UP | IFF_RUNNING | IFF_LOWER_UP)) == (IFF_UP | IFF_RUNNING);
}

const Link* find_link(const Links& links, std::string_view name) {
    const auto found =
        std::ranges::find_if(links, [name](const auto& entry) { return entry.second.name == name; });
    return found == links.end() ? nullptr : &found->second;
}

const Link* find_link(const Links& links, IfIndex index) {
    const auto found = links.find(index);
    return found == links.end() ? nullptr : &found->second;
}

const Link* find_altname(const Links& links, std::string_view altname) {
    const auto found = std::ranges::find_if(links, [altname](const auto& entry) {
        return std::ranges::find(entry.second.altnames, altname) != entry.second.altnames.end();
    });
    return found == links.end() ? nullptr : &found->second;
}

const Link* find_team(const Links& links, std::string_view team) {
    const auto* marked = find_altname(links, team_mark(team));
    return marked != nullptr ? marked : find_link(links, team);
}

const Link* find_named(const Links& links, std::string_view name) {
    const auto found =
        std::ranges::find_if(links, [name](const auto& entry) { return entry.second.has_name(name); });
    return found == links.end() ? nullptr : &found->second;
}

bool stands_on(const Links& links, const Link& device, const Link& below) {
    const auto* step = &device;
    // A chain longer than the number of devices is a loop (both ends of a pair refer to each other).
    for (std::size_t height = 0; height < links.size(); ++height) {
        const bool pair = step->kind == "veth" || step->kind == "netkit";
        if (pair || step->lower_elsewhere || !step->lower) return false;
        step = find_link(links, step->lower);
        if (step == nullptr) return false;
        if (step->index == below.index) return true;
    }
    return false;
}

std::string team_mark(std::string_view team) { return fmt::format("{}{}", team_prefix, team); }
std::string inner_mark(std::string_view team) { return fmt::format("{}{}", inner_prefix, team); }
std::string port_mark(std::string_view team, Slot slot) {
    return fmt::format("{}{}-{}", port_prefix, team, slot.value);
}

std::optional<PortMark> port_mark_of(const Link& link) {
    for (std::string_view name : link.altnames) {
        if (!name.starts_with(port_prefix)) continue;
        name.remove_prefix(port_prefix.size());
        // A team's name may contain dashes; the slot is the one digit after the last dash.
        const auto dash = name.rfind('-');
        if (dash == std::string_view::npos || dash == 0 || dash + 2 != name.size()) continue;
        const char digit = name.back();
        if (digit < '1' || digit > '8') continue;
        return PortMark{.team = std::string(name.substr(0, dash)),
                        .slot = Slot{static_cast<std::uint8_t>(digit - '0')}};
    }
    return std::nullopt;
}

std::optional<std::string> team_of_device(const Link& link) {
    for (const std::string_view name : link.altnames)
        for (const auto prefix : {team_prefix, inner_prefix})
            if (name.starts_with(prefix)) return std::string(name.substr(prefix.size()));
    return std::nullopt;
}

// ---- DeviceIndex -------------------------------------------------------------------------------

namespace {

template <class Entries, class Key>
std::vector<IfIndex> found_in(const Entries& entries, const Key& key) {
    std::vector<IfIndex> found;
    for (auto entry = entries.lower_bound({key, IfIndex{}}); entry != entries.end() && entry->first == key;
         ++entry)
        found.push_back(entry->second);
    return found;
}

} // namespace

template <class Change>
void DeviceIndex::each_entry(const Link& link, const Change& change) {
    if (link.lower && !link.lower_elsewhere) change(by_lower_, std::pair(link.lower, link.index));
    change(by_address_, std::pair(link.address, link.index));
    change(by_name_, std::pair(link.name, link.index));
    for (const auto& name : link.altnames)
        change(by_name_, std::pair(name, link.index));
}

void DeviceIndex::add(const Link& link) {
    each_entry(link, [](auto& entries, auto entry) { entries.insert(std::move(entry)); });
}

void DeviceIndex::remove(const Link& link) {
    each_entry(link, [](auto& entries, const auto& entry) { entries.erase(entry); });
}

std::vector<IfIndex> DeviceIndex::on(IfIndex device) const { return found_in(by_lower_, device); }

std::vector<IfIndex> DeviceIndex::with(const MacAddress& address) const {
    return found_in(by_address_, address);
}

std::optional<IfIndex> DeviceIndex::named(std::string_view name) const {
    const auto found = found_in(by_name_, std::string(name));
    return found.empty() ? std::nullopt : std::optional(found.front());
}

} // namespace teamo
