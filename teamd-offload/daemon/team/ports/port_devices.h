// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The settings of a device that becomes a port, and that it gets back. Each step is written into the
// journal's PortBefore before it is taken, so that another process can finish or undo it; these functions
// skip what is done already.
#pragma once

#include "base/result.h"
#include "daemon/team/ports/port_entries.h"
#include "daemon/team/subsystems.h"

namespace teamo {

/// Notes in the journal that a port is down for a change of its address or after a move between namespaces,
/// so that a later daemon sets it up again if we are killed meanwhile. nullptr: the device is no port.
Result<> note_taken_down(TeamContext& context, PortBefore* port, bool down);

/// Sets a hardware address. Takes the device down for a moment only if it does not accept the change while
/// up. `port`: see note_taken_down().
Result<> set_address(TeamContext& context, const Link& link, const MacAddress& address,
                     PortBefore* port = nullptr);

/// By hwaddr_policy the team has the address of its active port.
bool has_address_of_active(const TeamConfig& config);

/// Gives the team the configured address, if that is a new one since a daemon last did so: the active port or
/// the administrator may have given the team another address since.
void set_hwaddr(TeamContext& context);

class PortDevices {
public:
    PortDevices(TeamContext& context, Subsystems& subsystems, PortEntries& entries)
        : context_(context), subsystems_(subsystems), entries_(entries) {}

    /// The first port of an empty team gives it its address, unless the configuration has one (teamd:
    /// hwaddr). An empty bond has lost its own, and would take the port's.
    Result<> prepare_address(const Link& first);
    /// Called before the device is changed: disable_ipv6 will remove all its IPv6 addresses, static ones too.
    /// `warns`: about addresses that do not work any more.
    void note_addresses(const Link& link, std::span<const DeviceAddress> addresses, PortBefore& port,
                        bool warns);
    Result<> add_to_team(const Link& link, const PortConfig& config, PortBefore& before);
    /// Makes the marked device a port: IPv6 disabled, the team's MTU and (by policy) address, all multicast,
    /// in the datapath, up.
    Result<> make_port(const Link& link, PortBefore& before);
    /// Puts the port into the datapath.
    Result<> attach(PortBefore& port);
    /// The guard on a port. A failure is logged: the port carries without it.
    void guard(PortBefore& port);

    /// A device that is gone needs nothing. Continues after a failure; the error contains all failures.
    /// `removed_by_others`: what is not our setting is up to the program that removed the port.
    /// `team_goes_on`: with other ports.
    Result<> restore(const PortBefore& port, bool removed_by_others, bool team_goes_on);
    /// True if the team goes on using the address that the port had before.
    bool keeps_address(const PortBefore& before, bool team_goes_on) const;

private:
    static Result<> set_disable_ipv6(const std::string& name, const PortBefore& before, bool disabled);
    Result<> fit(const Link& link, PortBefore& before);
    /// `in_use`: by another program, which decides whether it is up.
    Result<> restore_device(const PortBefore& before, bool in_use, bool team_goes_on);
    Result<> restore_features(const PortBefore& port);
    static Result<> release(const PortBefore& before, const std::string& name);

    TeamContext& context_;
    Subsystems& subsystems_;
    PortEntries& entries_;
};

} // namespace teamo
