// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What is done to a device when it becomes a port, and how it is undone. Every step is written into the
// journal's PortBefore before it is taken, so that another process can finish or undo it: each of these does
// only what is not done yet.
#pragma once

#include "datapath/datapath.h"
#include "kernel/netlink/links.h"
#include "runtime/journal.h"

#include <functional>

namespace teamo {

/// What a device is like, to be put back.
PortBefore remember(const Link& link, Slot slot);
/// The same for one that has our mark and of which nothing is noted: as far as can be told from its
/// hardware and from what new devices are like.
PortBefore remember_marked(const Link& link, Slot slot);

/// Of entries whose devices are gone, those that had joined stay, as away.
void send_away(std::vector<PortBefore>& ports, const std::function<bool(IfIndex)>& gone);

/// The mark comes first: without it a journal's entry says nothing of a device.
Result<> mark_port(LinkControl& links, std::string_view team, const Link& link, Slot slot);
/// And it goes last.
Result<> unmark_port(LinkControl& links, std::string_view team, IfIndex port);

/// Makes the marked device a port: silent by itself, as wide as the team, hearing all multicast, in the
/// datapath, up. `address` is set where the policy gives it one now. `before` gains what has to be made
/// (clsact), and `keep` is called before it is.
Result<> make_port(LinkControl& links, Datapath& datapath, const Link& link, std::uint32_t mtu,
                   std::optional<MacAddress> address, PortBefore& before,
                   const std::function<Result<>()>& keep);

/// Puts everything back but the mark; a device that is gone needs nothing. Goes on after a failure; all that
/// failed is in the error.
Result<> restore_port(LinkControl& links, Datapath& datapath, const PortBefore& before);

/// A port that somebody else took out of the team: what is ours goes, the rest is theirs to say.
Result<> release_port(const PortBefore& before, const std::string& name);

/// Sets a hardware address, taking the device down for a moment only where it does not change it live.
/// `around` is called with true before that, and with false when the device is up again.
Result<> set_address(LinkControl& links, const Link& link, const MacAddress& address,
                     const std::function<Result<>(bool down)>& around = {});

} // namespace teamo
