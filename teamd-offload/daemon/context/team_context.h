// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Shared by all parts of a team. The team owns it; the parts hold references.
#pragma once

#include "config/config_file.h"
#include "daemon/context/journal_keeper.h"
#include "daemon/context/log.h"
#include "daemon/context/observer.h"
#include "daemon/context/options.h"
#include "daemon/context/process_parts.h"
#include "datapath/datapath.h"

namespace teamo {

struct TeamContext {
    Configuration configuration;
    Options options;
    Log& log;
    sd_event* loop;
    ProcessParts& shared;
    std::function<void()> changed; ///< called when the set of ports that carry changes
    std::unique_ptr<DevicePrograms> programs;
    std::unique_ptr<Datapath> datapath;
    LinkControl& control{shared.control};
    Ethtool& ethtool{shared.ethtool};
    PacketSocket& frames{shared.frames};
    std::unique_ptr<Observer> observer{};
    std::function<void()> request_pass{}; ///< makes the loop run a pass soon; set before there are parts
    JournalKeeper journal{configuration.team.device, log};
    TeamDevice device{};
    /// Of a bond when it last had ports, or what somebody set since: the kernel gives an empty one a random
    /// address (bond_main.c: __bond_release_one).
    std::optional<MacAddress> bond_address{};

    const TeamConfig& config() const { return configuration.team; }
    bool has_lacp() const { return is_lacp(config().runner); }
    /// Whether LACP is ours, and not that of a bond.
    bool runs_lacp() const { return has_lacp() && !datapath->is_bond(); }
    /// Bonding has it only for LACP.
    std::uint16_t min_ports() const { return datapath->is_bond() && !has_lacp() ? 1 : config().min_ports; }
    /// Whether one port carries, and the others wait.
    bool is_activebackup() const { return std::holds_alternative<ActiveBackupRunner>(config().runner); }
    /// Whether each source address has a port.
    bool is_by_source() const { return std::holds_alternative<SlbRunner>(config().runner); }
    /// Whether the runner chooses the active slave of an active-backup bond, and not bonding.
    bool chooses_active() const {
        return datapath->is_bond() && is_activebackup() && (!datapath->is_guest() || config().chooses_active);
    }
    const std::string& name() const { return configuration.team.device; }
    const Links& links() const { return observer->links(); }
    /// nullptr: there is no such device.
    const Link* link(IfIndex index) const { return find_link(links(), index); }
    /// By its name or an alternative one; nullptr: there is no such device.
    const Link* link(std::string_view name) const { return observer->find(name); }
    /// What has the device as its lower one, also the other end of a pair.
    std::vector<const Link*> links_on(IfIndex device) const {
        std::vector<const Link*> list;
        for (const auto index : observer->index().on(device))
            list.push_back(link(index));
        return list;
    }
    std::vector<const Link*> links_with(const MacAddress& address) const {
        std::vector<const Link*> list;
        for (const auto index : observer->index().with(address))
            list.push_back(link(index));
        return list;
    }
    const Link* team() const { return link(device.team); }
    /// The slot of the device's mark; none: it lacks the mark of this team.
    std::optional<Slot> marked_slot(const Link& link) const {
        const auto mark = port_mark_of(link);
        return mark && mark->team == name() ? std::optional(mark->slot) : std::nullopt;
    }
    /// Whether another device has the index of a port: until the removal is read, or if its event was lost.
    /// Such a device lacks the mark, and what it has must not change before it joins. The slaves of a bond of
    /// others have no mark: its master shows what it is.
    bool is_replaced(IfIndex port) const {
        const auto* now = link(port);
        if (now == nullptr) return false;
        return datapath->is_guest() ? now->master != device.team : !marked_slot(*now);
    }
};

} // namespace teamo
