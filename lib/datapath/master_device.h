// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A team device that has its ports as slaves: of the kernel's team driver or of its bonding driver.
#pragma once

#include "datapath/datapath.h"

namespace teamo {

/// What `create` made under `name`, marked. On failure nothing remains.
Result<TeamDevice> create_master_device(LinkControl& links, const std::string& name, const std::string& kind,
                                        Result<> created);
/// The device of that name, if there is one, as Datapath::find_device().
Result<std::optional<TeamDevice>> find_master_device(const Links& links, const std::string& name,
                                                     const std::string& kind, bool take_over);
/// False: the device is of another program.
bool is_marked_master(const Link& link);
Result<bool> is_marked_master(LinkControl& links, IfIndex device);
/// Does nothing if the device has the mark.
Result<> mark_master_device(LinkControl& links, IfIndex device);

/// Makes the port, which must be down, a slave: the driver sets it up. Does nothing if it is one.
Result<> enslave(LinkControl& links, IfIndex port, IfIndex team);
/// Does nothing if the port or the team is gone, or the port has another master now.
Result<> release_slave(LinkControl& links, IfIndex port, IfIndex team);

} // namespace teamo
