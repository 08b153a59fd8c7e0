// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What ports take in for the team, what they must not do by themselves, and how both are undone.
#include "team/team.h"

#include "kernel/interrupts/affinity_restore.h"
#include "kernel/netlink/hardware_addresses.h"
#include "plan/team/reception.h"
#include "team/port_device.h"

#include <linux/if_addr.h>

#include <algorithm>

namespace teamo {

/// How long a port may be deaf to a device above the team that lives in another namespace: as long as
/// linkwatch may keep a carrier's news to itself.
constexpr std::chrono::seconds look_again_after{1};

/// A macvlan or the like adds its address to the team's list, of which the kernel says nothing, and makes a
/// veth promiscuous, of which it says nothing either (net/core/dev_addr_lists.c: __dev_set_rx_mode). A device
/// that claims to filter (IFF_UNICAST_FLT, which Debian's netkit of 6.12 does not) stays as it is. So both
/// are read when those above the team change, and once in a while, since a container's macvlan comes up where
/// its event is not heard.
void Team::update_uppers() {
    const auto* team = find_link(observer_->links(), device_.team);
    if (team == nullptr) return;
    std::vector<std::pair<IfIndex, std::uint32_t>> uppers{{team->master, 0}};
    for (const auto& [index, link] : observer_->links())
        if (link.lower == device_.team && !link.lower_elsewhere && link.index != device_.inner)
            uppers.emplace_back(index, link.flags);
    if (uppers == uppers_) return;
    uppers_ = std::move(uppers);
    update_team_addresses();
}

/// True: it takes in something else than before.
bool Team::update_team_addresses() {
    auto* known = observer_->edit(device_.team);
    auto now = control_.read(device_.team);
    auto list = read_unicast_list(device_.team);
    if (known == nullptr || !now || !list) return false; // the next look may have more luck
    if (now->promiscuity == known->promiscuity && *list == unicast_list_) return false;
    *known = std::move(*now);
    unicast_list_ = std::move(*list);
    return true;
}

/// Of a port's new gso_max_size the kernel tells nobody (net/core/rtnetlink.c: do_setlink). True: some have
/// changed.
bool Team::update_gso_limits() {
    bool changed = false;
    for (const auto& port : ports_) {
        auto* known = observer_->edit(port.index);
        const auto now = control_.read(port.index);
        if (known == nullptr || !now || now->gso_max == known->gso_max) continue;
        known->gso_max = now->gso_max;
        changed = true;
    }
    return changed;
}

void Team::poll_unreported() {
    const bool stale = observer_->is_stale();
    if (stale) observer_->catch_up();
    const bool limits = update_gso_limits();
    // The team's driver hands its lists down itself.
    const bool lists = !datapath_->kernel_manages_ports() && update_team_addresses();
    if (stale || limits || lists) pass();
    poll_timer_->after(look_again_after);
}

/// The device is still as it was; disable_ipv6 will take its IPv6 addresses, static ones too.
void Team::note_addresses(const Link& link, PortBefore& port) {
    const auto addresses = read_addresses();
    if (!addresses) {
        log_(Level::warning, fmt::format("port {}: {}", link.name, addresses.error().text));
        return;
    }
    std::string own;
    for (const auto& address : *addresses) {
        // The kernel makes link-local ones itself, now and afterwards.
        const bool link_local = address.ipv6 && address.bytes[0] == 0xfe && (address.bytes[1] & 0xc0) == 0x80;
        if (address.device != link.index || link_local) continue;
        own += fmt::format("{}{}", own.empty() ? "" : ", ", text_of(address));
        if (!address.ipv6 || (address.flags & IFA_F_PERMANENT) == 0 || port.disable_ipv6 != false) continue;
        // The kernel lists the latest first, and prefers it where nothing else decides.
        const auto first = port.ipv6_addresses.insert(port.ipv6_addresses.begin(), address);
        first->tentative = false;
    }
    if (!own.empty())
        log_(Level::warning,
             fmt::format("port {}: has addresses of its own ({}), which do not work while it is a port; give "
                         "them to {}",
                         link.name, own, name()));
}

/// A device that is gone needs nothing. Goes on after a failure; all that failed is in the error.
Result<> Team::put_back(const PortBefore& port) {
    Failures failures;
    // First: a card that goes down with the next step may lose its vectors.
    if (const auto* link = find_link(observer_->links(), port.index))
        failures.add(restore_cpus(*link, port.cpus));
    failures.add(restore_port(control_, *datapath_, port));
    if (!port.features.empty()) failures.add(put_back_features(port));
    return unmark(port.index, failures);
}

/// The mark goes last, and stays while there is something to be tried again: without it nobody would know.
Result<> Team::unmark(IfIndex port, const Failures& failures) {
    if (auto failed = failures.result(); !failed) {
        if (!failures.may_pass()) static_cast<void>(unmark_port(control_, name(), port));
        return within("was not put back wholly", std::move(failed.error()));
    }
    return unmark_port(control_, name(), port);
}

/// Of a port that somebody else took out what is still ours is undone.
Result<> Team::let_go(const PortBefore& port) {
    Failures failures;
    const auto* link = find_link(observer_->links(), port.index);
    failures.add(release_port(port, link == nullptr ? port.name : link->name));
    if (!port.features.empty()) failures.add(put_back_features(port));
    if (link != nullptr) failures.add(restore_cpus(*link, port.cpus));
    return unmark(port.index, failures);
}

Result<> Team::put_back_features(const PortBefore& port) {
    auto features = ethtool_.read_features(port.index);
    if (!features) return tl::unexpected(features.error());
    // Also what was only asked for: a driver may do it later.
    FeatureSettings settings;
    for (const auto& [name, on] : port.features)
        if (features->active.contains(name) != on || features->wanted.contains(name) != on)
            settings.emplace(name, on);
    if (settings.empty()) return {};
    features = ethtool_.set_features(port.index, settings);
    if (!features) return tl::unexpected(features.error());
    const auto refused = missing(*features, settings);
    if (refused.empty()) return {};
    return fail(EIO, fmt::format("{} stays {}; set it with: ethtool -K {}", refused.begin()->first,
                                 refused.begin()->second ? "off" : "on", port.name));
}

} // namespace teamo
