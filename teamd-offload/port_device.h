// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What is done to a device when it becomes a port, and how it is undone. Every step is written into the
// journal's PortBefore before it is taken, so that another process can undo it.
#pragma once

#include "datapath/datapath.h"
#include "kernel/journal.h"
#include "kernel/links.h"

#include <functional>

namespace teamo {

/// What a device was like, to be put back.
PortBefore remember(const Link& link, Slot slot);

/// Makes the device a port: marked, silent by itself, as wide as the team, hearing all multicast, in the
/// datapath, up. `address` is set where the policy gives it one now. `before` gains what had to be made
/// (clsact), and `keep` is called when it did.
Result<> make_port(LinkControl& links, Datapath& datapath, std::string_view team, const Link& link,
                   std::uint32_t mtu, std::optional<MacAddress> address, PortBefore& before,
                   const std::function<Result<>()>& keep);

/// Puts everything back; a device that is gone needs nothing. Goes on after a failure; all that failed is
/// in the error.
Result<> restore_port(LinkControl& links, Datapath& datapath, std::string_view team,
                      const PortBefore& before);

/// A port that somebody else took out of the team: what is ours goes, the rest is theirs to say.
Result<> release_port(LinkControl& links, std::string_view team, const PortBefore& before);

/// Sets a hardware address, taking the device down for a moment only where it does not change it live.
Result<> set_address(LinkControl& links, const Link& link, const MacAddress& address);

} // namespace teamo
