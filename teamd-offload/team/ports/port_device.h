// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Makes a device a port, and restores it. Each step is written into the journal's PortBefore before it is
// taken, so that another process can finish or undo it; these functions skip what is done already.
#pragma once

#include "datapath/datapath.h"
#include "kernel/netlink/links.h"
#include "runtime/journal.h"

#include <functional>

namespace teamo {

/// The state of a device, to be restored later.
PortBefore remember(const Link& link, Slot slot);
/// The same for a device that has our mark and no entry: as far as known from its hardware and from the
/// defaults of new devices.
PortBefore remember_marked(const Link& link, Slot slot);

/// If an entry's device is gone: marks the entry as away if the port had joined, else removes it.
void mark_away(std::vector<PortBefore>& ports, const std::function<bool(IfIndex)>& gone);

/// Must be the first step: without the mark an entry of the journal is not valid for the device.
Result<> mark_port(LinkControl& links, std::string_view team, const Link& link, Slot slot);
/// Must be the last step.
Result<> unmark_port(LinkControl& links, std::string_view team, IfIndex port);

/// Makes the marked device a port: IPv6 disabled, the team's MTU, all multicast, in the datapath, up.
/// `address`: is set, if given. If a clsact qdisc must be created, notes that in `before` and calls `keep`
/// first.
Result<> make_port(LinkControl& links, Datapath& datapath, const Link& link, std::uint32_t mtu,
                   std::optional<MacAddress> address, PortBefore& before,
                   const std::function<Result<>()>& keep);

/// Restores everything except the mark; a device that is gone needs nothing. Continues after a failure; the
/// error contains all failures.
Result<> restore_port(LinkControl& links, Datapath& datapath, const PortBefore& before);

/// Undoes our settings on a port that another program removed from the team; the rest is that program's.
Result<> release_port(const PortBefore& before, const std::string& name);

/// Sets a hardware address. Takes the device down for a moment only if it does not accept the change while
/// up. `around` is called with true before that, and with false when the device is up again.
Result<> set_address(LinkControl& links, const Link& link, const MacAddress& address,
                     const std::function<Result<>(bool down)>& around = {});

} // namespace teamo
